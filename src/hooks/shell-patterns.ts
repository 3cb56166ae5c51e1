/** Patterns for the commands of a shell, as in `Bash(git *)`: `*` is any text, and `git *` also `git` alone. */
function matches(command: string, pattern: string): boolean {
  const text = pattern.replace(/:\*$/, ' *');
  const [first = '', ...rest] = text.split('*');
  const last = rest.pop();
  if (last === undefined) return command === text;
  if (text === `${command} *`) return true;
  let at = command.startsWith(first) ? first.length : -1;
  for (const part of rest) {
    const found = at < 0 ? -1 : command.indexOf(part, at);
    at = found < 0 ? -1 : found + part.length;
  }
  return at >= 0 && command.length - last.length >= at && command.endsWith(last);
}

/** Every command of the line matches one of the patterns. False where that cannot be told without a shell. */
export function isAllowedCommand(line: string | undefined, patterns: readonly string[]): boolean {
  const commands = line === undefined ? undefined : simpleCommands(line);
  return commands?.every((command) => patterns.some((pattern) => matches(command, pattern))) ?? false;
}

/** Some command of the line matches the pattern. A shell has many ways around it. */
export function isForbiddenCommand(line: string | undefined, pattern: string): boolean {
  if (line === undefined) return true;
  const commands = line.split(/[;&|\n(){}`]/).map((part) => part.trim().replace(/^(?:\w+=\S*\s+)+/, ''));
  return commands.some((command) => command !== '' && matches(command, pattern));
}

const harmless = /(?:\d?>&\d|(?:&|\d)?>\s*\/dev\/null)(?=[\s;&|]|$)/g;

/** The commands between `;`, `&&`, `||`, `|` and line ends; undefined where there is more than these. */
function simpleCommands(line: string): string[] | undefined {
  const text = line.replaceAll(harmless, ' ');
  const commands = [''];
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const one = text[at] ?? '';
    const escaped = one === '\\' && quote !== "'";
    const isCode = quote !== "'" && (one === '`' || /^\$[('"]/.test(text.slice(at, at + 2)));
    if (isCode || (quote === '' && '<>(){}'.includes(one))) return undefined;
    // A shell removes the first before anything else, and reads no quotes in the second.
    const isContinued = escaped && text[at + 1] === '\n';
    const isComment = quote === '' && one === '#' && /(^|[\s;&|])$/.test(text.slice(0, at));
    if (isContinued || isComment) return undefined;
    if (quote === '' && ';&|\n'.includes(one)) {
      commands.push('');
      continue;
    }
    if (one === quote) quote = '';
    else if (quote === '' && (one === "'" || one === '"')) quote = one;
    commands.push(`${commands.pop() ?? ''}${one}${escaped ? (text[at + 1] ?? '') : ''}`);
    if (escaped) at += 1;
  }
  const found = commands.map((command) => command.trim()).filter((command) => command !== '');
  return quote !== '' || found.length === 0 ? undefined : found;
}

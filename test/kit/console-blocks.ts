/** A command of a page, with the lines that it shows of the output; `…` stands for anything. */
export interface ShownCommand {
  command: string;
  output: string[];
}

/** The `console` blocks of a page: `$ ` begins a command, a here-document belongs to it, the rest is shown output. */
export function commandsIn(page: string): ShownCommand[] {
  const found: ShownCommand[] = [];
  for (const [, block = ''] of page.matchAll(/^```console\n([\s\S]*?)^```/gm)) {
    let until: string | undefined;
    for (const line of block.split('\n').filter((each) => each !== '')) {
      const last = found.at(-1);
      if (until !== undefined && last) {
        last.command += `\n${line}`;
        if (line === until) until = undefined;
      } else if (line.startsWith('$ ')) {
        found.push({ command: line.slice(2), output: [] });
        until = /<< '(\w+)'/.exec(line)?.[1];
      } else last?.output.push(line);
    }
  }
  return found;
}

/** The first shown line that the output lacks after those before it. */
export function missingLine({ output }: ShownCommand, printed: string): string | undefined {
  const lines = printed.split('\n').map((line) => line.trimEnd());
  let from = 0;
  return output.find((shown) => {
    const at = lines.findIndex((line, number) => number >= from && matches(shown, line));
    from = at + 1;
    return at === -1;
  });
}

const matches = (shown: string, line: string): boolean =>
  new RegExp(`^${shown.split('…').map(escaped).join('.*')}$`).test(line);

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

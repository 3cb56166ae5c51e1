import { assignedSecrets, isNamedSecret } from './assigned-secrets.ts';
import { isWordy } from './looks-secret.ts';
import { privateKeys } from './private-keys.ts';
import { type SecretFinding, secretlintFindings } from './secretlint.ts';
import { tokenRules } from './token-rules.ts';
import { createTrigramFilter } from './trigram-filter.ts';

export interface Redacted {
  text: string;
  /** One for each secret that was removed. */
  found: { rule: string }[];
}

/** Every secret that the rules know is replaced by `[secret removed: RULE]`. Loads secretlint when first called. */
export async function redactSecrets(text: string): Promise<Redacted> {
  const quick = redact(text);
  const findings = (await secretlintFindings(quick.text)).filter(
    ({ from, to }) => !isExample(quick.text.slice(from, to)),
  );
  return {
    text: cut(quick.text, findings),
    found: [...quick.found, ...findings.map(({ rule }) => ({ rule }))],
  };
}

/** The same with Stepfast's own rules only: for texts of a run, where nobody can wait. */
export const redactQuickly = (text: string): string =>
  text.length < shortestSecret ? text : redact(text).text;

/** `a:b@c` with a scheme, or a password of six with its name. */
const shortestSecret = 10;

/** The same of a value that stands apart from its name, as it would be in `name: value`. */
export function redactNamed(name: string, value: string): string {
  const clean = redactQuickly(value);
  if (clean.length < 6) return clean;
  if (isNamedSecret(name, clean)) return mark('assigned-value');
  const before = `${name.slice(-100)}: `;
  const line = redactQuickly(before + clean);
  return line.startsWith(before) ? line.slice(before.length) : mark('assigned-value');
}

/** A copy of a JSON value whose texts have no secrets; what a property's name tells of its value counts. */
export function withoutSecrets<T>(value: T, name = ''): T {
  // Each is of the kind that it was.
  if (typeof value === 'string') return redactNamed(name, value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, name)) as T;
  const own = 'key' in value && typeof value.key === 'string' ? value.key : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      redactQuickly(key),
      withoutSecrets(each, own !== undefined && isValue.test(key) ? own : key),
    ]),
  ) as T;
}

/** What a thing with a `key` calls its text. */
const isValue = /^(?:text|value)$/;

function redact(text: string): Redacted {
  const found: { rule: string }[] = [];
  const keys = privateKeys(text).map(([from, to]) => ({ rule: 'private-key', from, to }));
  let rest = cut(text, keys);
  const mayHave = createTrigramFilter(rest);
  for (const { name, pattern, hints } of tokenRules) {
    if (!hints.some(mayHave)) continue;
    rest = rest.replaceAll(pattern, (match: string, ...args: unknown[]) => {
      const kept = keptPart(args.at(-1));
      if (kept === '' && isExample(match)) return match;
      found.push({ rule: name });
      return `${kept}${mark(name)}`;
    });
  }
  const values = assignedSecrets(rest).map(([from, to]) => ({ rule: 'assigned-value', from, to }));
  for (const { rule } of [...keys, ...values]) found.push({ rule });
  return { text: cut(rest, values), found };
}

/** `ghp_xxxx`, `xoxb-your-token`, `AKIA…EXAMPLE` and names of the same form. */
const isExample = (token: string): boolean =>
  /^[\w.-]{2,12}[-_](?:api\d\d-)?[xX0*_-]{8,}$|EXAMPLE(?:KEY)?$/.test(token) ||
  (/^[\w.-]{1,300}$/.test(token) && isWordy(token));

/** The last argument of a replacer is the named groups, where the pattern has some. */
const keptPart = (groups: unknown): string =>
  typeof groups === 'object' && groups !== null && 'keep' in groups && typeof groups.keep === 'string'
    ? groups.keep
    : '';

const mark = (rule: string): string => `[secret removed: ${rule}]`;

/** Ranges that overlap become one. */
function cut(text: string, ranges: readonly SecretFinding[]): string {
  let result = '';
  let done = 0;
  for (const { rule, from, to } of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) result += `${text.slice(done, from)}${mark(rule)}`;
    done = Math.max(done, to);
  }
  return result + text.slice(done);
}

import { assignedSecrets, isNamedSecret } from './assigned-secrets.ts';
import { isWordy } from './looks-secret.ts';
import { privateKeys } from './private-keys.ts';
import { type SecretFinding, secretlintFindings } from './secretlint.ts';
import { tokenRules } from './token-rules.ts';
import { createTrigramFilter } from './trigram-filter.ts';

export interface Redacted {
  text: string;
  /** One entry per removed secret. */
  found: { rule: string }[];
}

/** Replaces every known secret by `[secret removed: RULE]`. Loads secretlint on the first call. */
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

/** The same with Stepfast's own rules only: synchronous, for texts of a run. */
export const redactQuickly = (text: string): string =>
  text.length < minSecretLength ? text : redact(text).text;

/** The shortest match is `://a:b@c`, or a name with a password of six characters. */
const minSecretLength = 10;
const minNamedLength = 6;

/** Redacts a value that is stored apart from its name, as if it were written `name: value`. */
export function redactNamed(name: string, value: string): string {
  const clean = redactQuickly(value);
  if (clean.length < minNamedLength) return clean;
  if (isNamedSecret(name, clean)) return mark('assigned-value');
  const before = `${name.slice(-100)}: `;
  const line = redactQuickly(before + clean);
  return line.startsWith(before) ? line.slice(before.length) : mark('assigned-value');
}

/** A copy of a JSON value with all strings redacted. A property's name counts as the name of its value. */
export function withoutSecrets<T>(value: T): T {
  const work = redaction(value);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** The same for large values: yields after each string. */
export function* redaction<T>(value: T, name = ''): Generator<void, T> {
  if (typeof value === 'string') {
    yield;
    // Redaction keeps the type of every value.
    return redactNamed(name, value) as T;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const each of value) items.push(isHarmless(each) ? each : yield* redaction(each, name));
    return items as T;
  }
  const own = 'key' in value && typeof value.key === 'string' ? value.key : undefined;
  const entries: [string, unknown][] = [];
  for (const [key, each] of Object.entries(value)) {
    const named = own !== undefined && isValue.test(key) ? own : key;
    entries.push([redactQuickly(key), isHarmless(each) ? each : yield* redaction(each, named)]);
  }
  return Object.fromEntries(entries) as T;
}

/** Too short for a secret, or no text. */
const isHarmless = (value: unknown): boolean =>
  typeof value === 'string' ? value.length < minNamedLength : typeof value !== 'object' || value === null;

/** Property names of the text in an object with a `key`. */
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

/** Placeholders: `ghp_xxxx`, `xoxb-your-token`, `AKIA…EXAMPLE`. */
const isExample = (token: string): boolean =>
  /^[\w.-]{2,12}[-_](?:api\d\d-)?[xX0*_-]{8,}$|EXAMPLE(?:KEY)?$/.test(token) ||
  (/^[\w.-]{1,300}$/.test(token) && isWordy(token));

/** The last argument of a replacer holds the named groups, if the pattern has any. */
const keptPart = (groups: unknown): string =>
  typeof groups === 'object' && groups !== null && 'keep' in groups && typeof groups.keep === 'string'
    ? groups.keep
    : '';

const mark = (rule: string): string => `[secret removed: ${rule}]`;

/** Replaces the ranges by marks; overlapping ranges become one. */
function cut(text: string, ranges: readonly SecretFinding[]): string {
  let result = '';
  let done = 0;
  for (const { rule, from, to } of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) result += `${text.slice(done, from)}${mark(rule)}`;
    done = Math.max(done, to);
  }
  return result + text.slice(done);
}

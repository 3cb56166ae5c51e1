import { assignedSecrets } from './assignments.ts';
import { privateKeys } from './private-keys.ts';
import { type Finding, secretlintFindings } from './secretlint.ts';
import { tokenRules } from './token-rules.ts';

export interface Redacted {
  text: string;
  /** One for each secret that was removed. */
  found: { rule: string }[];
}

/** Every secret that the rules know is replaced by `[secret removed: RULE]`. Loads secretlint when first called. */
export async function redactSecrets(text: string): Promise<Redacted> {
  const quick = redact(text);
  const findings = await secretlintFindings(quick.text);
  return {
    text: cut(quick.text, findings),
    found: [...quick.found, ...findings.map(({ rule }) => ({ rule }))],
  };
}

/** The same with Stepfast's own rules only: for texts of a run, where nobody can wait. */
export const redactQuickly = (text: string): string => (suspicious.test(text) ? redact(text).text : text);

/** Most texts have neither a long word nor a name for a secret, and are passed at once. */
const suspicious = /\S{16}|pass|pwd|secret|token|key|cred|auth|bearer|:\/\//i;

function redact(text: string): Redacted {
  const found: { rule: string }[] = [];
  const keys = privateKeys(text).map(([from, to]) => ({ rule: 'private-key', from, to }));
  let rest = cut(text, keys);
  for (const { name, pattern } of tokenRules) {
    rest = rest.replaceAll(pattern, (...args: unknown[]) => {
      found.push({ rule: name });
      return `${keptPart(args.at(-1))}${mark(name)}`;
    });
  }
  const values = assignedSecrets(rest).map(([from, to]) => ({ rule: 'assigned-value', from, to }));
  for (const { rule } of [...keys, ...values]) found.push({ rule });
  return { text: cut(rest, values), found };
}

/** The last argument of a replacer is the named groups, where the pattern has some. */
const keptPart = (groups: unknown): string =>
  typeof groups === 'object' && groups !== null && 'keep' in groups && typeof groups.keep === 'string'
    ? groups.keep
    : '';

const mark = (rule: string): string => `[secret removed: ${rule}]`;

/** Ranges that overlap become one. */
function cut(text: string, ranges: readonly Finding[]): string {
  let result = '';
  let done = 0;
  for (const { rule, from, to } of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) result += `${text.slice(done, from)}${mark(rule)}`;
    done = Math.max(done, to);
  }
  return result + text.slice(done);
}

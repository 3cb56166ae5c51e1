import { redactSecrets } from '../../context/index.ts';
import type { StoredEntry, TextsByDigest } from '../../store/index.ts';

/** Returns the rule of each secret in a text, never the secret. */
export type SecretScan = (text: string) => readonly string[] | Promise<readonly string[]>;

/** The rule of a secret and its location. */
export interface Secret {
  rule: string;
  where: string;
}

/** Uses the same rules as the redaction of artifacts. */
export const secretScan: SecretScan = async (text) =>
  (await redactSecrets(text)).found.map(({ rule }) => rule);

/** The new batches and texts of a run, and the workflow of a new run. */
export interface OutgoingData {
  lines: readonly StoredEntry[];
  texts: TextsByDigest;
  /** With a new run only. */
  definition?: object;
}

export async function secretsIn(
  { lines, texts, definition }: OutgoingData,
  scan: SecretScan,
): Promise<Secret[]> {
  const parts: [where: string, text: string][] = [
    ...(definition ? [['the workflow', plainText(definition)] as [string, string]] : []),
    ...lines.map(({ seq, actor, session, key, reply, events }): [string, string] => [
      `batch ${seq} (${[...new Set(events.map(({ type }) => type))].join(', ')})`,
      plainText([actor, session, key, reply, events]),
    ]),
    ...[...texts].map(([digest, bytes]): [string, string] => [
      `the text ${digest.slice(0, 19)}`,
      Buffer.from(bytes).toString('utf8'),
    ]),
  ];
  const found: Secret[] = [];
  // Usually there is none, so everything is scanned at once first.
  if ((await scan(parts.map(([, text]) => text).join('\n'))).length === 0) return found;
  for (const [where, text] of parts)
    for (const rule of new Set(await scan(text))) found.push({ rule, where });
  return found;
}

/** Every text of a value with its key, unescaped: in JSON a private key of several lines would not be found. */
const plainText = (value: unknown): string => linesIn(value, '').join('\n');

function linesIn(value: unknown, name: string): string[] {
  if (typeof value === 'string') return [name === '' ? value : `${name}: ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => linesIn(each, name));
  // The text of a note belongs to its key.
  const own = 'key' in value && typeof value.key === 'string' ? value.key : undefined;
  return Object.entries(value).flatMap(([key, each]) =>
    linesIn(each, own !== undefined && key === 'text' ? own : key),
  );
}

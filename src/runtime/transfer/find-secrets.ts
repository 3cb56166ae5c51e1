import { redactSecrets } from '../../context/index.ts';
import type { StoredEntry, TextsByDigest } from '../../store/index.ts';

/** Looks for secrets in a text: the rule of each that it found, never the secret. */
export type SecretScan = (text: string) => readonly string[] | Promise<readonly string[]>;

/** A secret by its rule and its place. */
export interface Secret {
  rule: string;
  where: string;
}

/** By the rules that artifacts are cleaned with. */
export const secretScan: SecretScan = async (text) =>
  (await redactSecrets(text)).found.map(({ rule }) => rule);

/** What of a run would be sent: its further batches, the texts that are not there yet, and with a new run its workflow. */
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
  // The rule is that there is none: all at once first, since every look costs.
  if ((await scan(parts.map(([, text]) => text).join('\n'))).length === 0) return found;
  for (const [where, text] of parts)
    for (const rule of new Set(await scan(text))) found.push({ rule, where });
  return found;
}

/** Every text in a value as it was said, after its name: in JSON a key of several lines is none. */
const plainText = (value: unknown): string => linesIn(value, '').join('\n');

function linesIn(value: unknown, name: string): string[] {
  if (typeof value === 'string') return [name === '' ? value : `${name}: ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => linesIn(each, name));
  // What a note says belongs to its key.
  const own = 'key' in value && typeof value.key === 'string' ? value.key : undefined;
  return Object.entries(value).flatMap(([key, each]) =>
    linesIn(each, own !== undefined && key === 'text' ? own : key),
  );
}

import { hash } from 'node:crypto';
import { journalVersion, migrateLine } from '../journal-version.ts';
import type { Entry, Pinned } from '../store.ts';
import { bufferOf } from './bytes.ts';

/** One batch in the journal. */
export interface JournalLine extends Entry {
  v: number;
  seq: number;
  /** The checksum of the line before; `genesis` of the run for the first line. */
  prev: string;
  machine: string;
  /** Makes the bytes of every write unique. */
  nonce: string;
  /** In the first line only. */
  pinned?: Pinned;
}

/** The position of a line in its file. */
export interface LinePosition {
  offset: number;
  end: number;
  /** Starts at 1 at the first byte that was read. */
  number: number;
}

export type ParsedLine = LinePosition &
  (
    | { kind: 'line'; line: JournalLine; hash: string }
    | { kind: 'newer'; version: number; hash: string }
    | { kind: 'bad' }
  );
export type ValidLine = Extract<ParsedLine, { kind: 'line' }>;

const newline = 0x0a;
const carriageReturn = 0x0d;
const sumPattern = /^,"sum":"([0-9a-f]{32})"\}$/;
const sumLength = ',"sum":""}'.length + 32;

export const genesis = (run: string): string => sum(`stepfast run ${run}`);

/** The bytes of one write. The leading newline separates it from a torn line. */
export function encodeLine(
  line: Omit<JournalLine, 'v'>,
  v = journalVersion,
): { bytes: Uint8Array; hash: string } {
  const { seq, prev, machine, nonce, now, actor, session, key, fingerprint, reply, pinned, events } = line;
  const who = { machine, nonce, now, actor, session };
  const ordered = { v, seq, prev, ...who, key, fingerprint, reply, pinned, events };
  const body = JSON.stringify(ordered).slice(0, -1);
  const lineSum = sum(body);
  return { bytes: Buffer.from(`\n${body},"sum":"${lineSum}"}\n`), hash: lineSum };
}

/** All non-blank lines. A line without its newline is bad: a power cut may still damage its end. */
export function parseLines(bytes: Uint8Array, start = 0): ParsedLine[] {
  const buffer = bufferOf(bytes);
  const lines: ParsedLine[] = [];
  for (let from = 0, number = 1; from < buffer.length; number += 1) {
    const found = buffer.indexOf(newline, from);
    const end = found < 0 ? buffer.length : found;
    const last = buffer[end - 1] === carriageReturn ? end - 1 : end;
    const position = { offset: start + from, end: start + last, number };
    if (last > from)
      lines.push({ ...position, ...(found < 0 ? { kind: 'bad' } : parseLine(buffer.subarray(from, last))) });
    from = end + 1;
  }
  return lines;
}

type WithoutPosition<T> = T extends LinePosition ? Omit<T, keyof LinePosition> : never;

function parseLine(bytes: Buffer): WithoutPosition<ParsedLine> {
  const bodyLength = bytes.length - sumLength;
  if (bodyLength <= 0) return { kind: 'bad' };
  const lineSum = sumPattern.exec(bytes.toString('latin1', bodyLength))?.[1];
  const body = bytes.subarray(0, bodyLength);
  if (lineSum === undefined || sum(body) !== lineSum) return { kind: 'bad' };
  const content = parseJson(`${body.toString('utf8')}}`);
  if (!content) return { kind: 'bad' };
  const line = migrateLine(content);
  if (!line) return { kind: 'newer', version: Number(content.v), hash: lineSum };
  // The checksum shows that Stepfast wrote it, and the version defines its shape.
  return { kind: 'line', line: line as unknown as JournalLine, hash: lineSum };
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const sum = (text: string | Uint8Array): string => hash('sha256', text, 'hex').slice(0, 32);

import { hash } from 'node:crypto';
import type { Definition, State } from '../../machine/index.ts';
import { stateFileVersion } from '../journal-version.ts';
import { projectState } from '../state-projection.ts';
import type { JournalTail } from './accept-lines.ts';
import { bufferOf } from './bytes.ts';

/** The batch of a key and its offset in the journal. */
export interface KeyUse {
  key: string;
  seq: number;
  offset: number;
}

/** A starting point for loads instead of the journal's first line. */
export interface Snapshot extends JournalTail {
  /** The digest of `workflow.json`. */
  pinned: string;
  keys: KeyUse[];
  state: State;
}

const separator = ',\n  "sum": "';
const ending = '"\n}\n';
const sumLength = separator.length + 32 + ending.length;

/** Indents the readable part and writes the snapshot in one line. */
export function encodeStateFile(definition: Definition, { state, keys, ...tail }: Snapshot): Uint8Array {
  const readable = JSON.stringify(projectState(definition, state), null, 2).slice(0, -2);
  const uses = keys.map(({ key, seq, offset }) => [key, seq, offset]);
  const snapshot = JSON.stringify({ v: stateFileVersion, ...tail, keys: uses, state });
  const body = `${readable},\n  "snapshot": ${snapshot}`;
  return Buffer.from(`${body}${separator}${sum(body)}${ending}`);
}

/** undefined if the file was edited, torn, or has another version: it can be recreated. */
export function parseStateFile(bytes: Uint8Array | undefined): Snapshot | undefined {
  if (!bytes || bytes.length <= sumLength) return undefined;
  const text = bufferOf(bytes).toString('utf8');
  const end = text.length - sumLength;
  if (text.slice(end) !== `${separator}${sum(text.slice(0, end))}${ending}`) return undefined;
  // The checksum shows that Stepfast wrote it.
  const { v, keys, ...snapshot } = (JSON.parse(text) as { snapshot: Written }).snapshot;
  if (v !== stateFileVersion) return undefined;
  return { ...snapshot, keys: keys.map(([key, seq, offset]) => ({ key, seq, offset })) };
}

type Written = Omit<Snapshot, 'keys'> & { v: number; keys: [key: string, seq: number, offset: number][] };

const sum = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);

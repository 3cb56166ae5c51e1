import { StepfastError } from '../../errors.ts';
import type { State } from '../../machine/index.ts';
import { digestOf, parseHistory, type RunHistory, type TextsByDigest } from '../../store/index.ts';
import { digestsIn, matchesHash, unknownEvent, verifiedStates } from './check-run.ts';
import type { RunTree } from './run-tree.ts';

/** An untrusted run after verification. */
export interface VerifiedRun extends RunHistory {
  texts: TextsByDigest;
  state: State;
}

/** Verifies every byte of an untrusted run. Throws `bad_history` with the problem. */
export function verifyRun(run: string, { journal, workflow, texts }: RunTree): VerifiedRun {
  try {
    const history = parseHistory(run, journal);
    const { pinned, lines } = history;
    if (!matchesHash(pinned)) throw bad('its workflow does not match its hash');
    if (hashIn(workflow) !== pinned.hash) throw bad('its workflow.json is of another run');
    const unknown = unknownEvent(lines);
    if (unknown !== undefined) throw bad(`it has the unknown event '${unknown}': update Stepfast`);
    const named = new Set(digestsIn(lines.map(({ events }) => events)));
    const missing = [...named].find((digest) => !texts.has(digest));
    if (missing !== undefined) throw bad(`it lacks the text ${missing.slice(0, 19)}`);
    for (const [digest, bytes] of texts) {
      if (digestOf(bytes) !== digest) throw bad(`the text ${digest.slice(0, 19)} was edited`);
      if (!named.has(digest)) throw bad(`nothing names the text ${digest.slice(0, 19)}`);
    }
    const state = verifiedStates(run, pinned, lines).at(-1);
    if (!state) throw bad('it is empty');
    return { ...history, texts, state };
  } catch (cause) {
    if (cause instanceof StepfastError && cause.code === 'bad_history') throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StepfastError('bad_history', `it cannot be replayed (${why})`, { cause });
  }
}

function hashIn(workflow: Uint8Array): unknown {
  const read: unknown = JSON.parse(Buffer.from(workflow).toString('utf8'));
  return typeof read === 'object' && read !== null && 'hash' in read ? read.hash : undefined;
}

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);

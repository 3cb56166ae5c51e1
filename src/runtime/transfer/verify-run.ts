import { StepfastError } from '../../errors.ts';
import type { State } from '../../machine/index.ts';
import { digestOf, parseHistory, type RunHistory, type TextsByDigest } from '../../store/index.ts';
import { digestsIn, matchesHash, unknownEvent, verifiedStates } from './check-run.ts';
import type { RunTree } from './run-tree.ts';

/** A run from elsewhere of which every byte was looked at. */
export interface VerifiedRun extends RunHistory {
  texts: TextsByDigest;
  state: State;
}

/** Throws `bad_history`, which says what is wrong; nothing was written then. */
export function verifyRun(run: string, { journal, workflow, texts }: RunTree): VerifiedRun {
  try {
    const history = parseHistory(run, journal);
    const { pinned, lines } = history;
    if (!matchesHash(pinned)) throw bad('it has another workflow than its hash says');
    if (hashIn(workflow) !== pinned.hash) throw bad('its workflow.json is of another run');
    const unknown = unknownEvent(lines);
    if (unknown !== undefined)
      throw bad(`it tells of '${unknown}', which is not known here: update Stepfast`);
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
    throw new StepfastError('bad_history', `it cannot be followed (${why})`, { cause });
  }
}

function hashIn(workflow: Uint8Array): unknown {
  const read: unknown = JSON.parse(Buffer.from(workflow).toString('utf8'));
  return typeof read === 'object' && read !== null && 'hash' in read ? read.hash : undefined;
}

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);

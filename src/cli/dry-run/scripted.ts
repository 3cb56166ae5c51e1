import { type Cursor, type Gate, gateText, handleOf, usedUp } from '../../machine/index.ts';
import { gatesFinished, moreBudget, type Player, succeed } from '../../runtime/index.ts';
import { usageError } from '../exit.ts';

const person = { kind: 'person', name: 'you' } as const;

/** Plays the moves of a script, then every step succeeds. */
export function scripted(moves: readonly ScriptedMove[], tasks: number): Player {
  const left = [...moves];
  const onSuccess = succeed(tasks);
  return (definition, state, now) => {
    const begins = Object.values(state.cursors).some(({ preparing, checking }) => preparing && checking);
    const move = begins && left[0]?.gates === undefined ? undefined : left.shift();
    if (!move) return onSuccess(definition, state, now);
    const cursor = Object.values(state.cursors)[0];
    const at = cursor && handleOf(state, cursor);
    if (move.gates !== undefined) {
      const checking = Object.values(state.cursors).find((open) => open.checking);
      if (!checking) return { now, type: 'gatesFinished', id: 'none', receipts: [] };
      return gatesFinished({ definition, state, cursor: checking }, now, passesIn(move.gates, checking));
    }
    if (move.tasks) {
      const list = move.tasks.map((id) => ({ id, title: `Task ${id}` }));
      return { now, type: 'setTasks', loop: state.step, tasks: list };
    }
    if (move.review) {
      const amount = usedUp(state) ? moreBudget(state) : undefined;
      const { review: verdict, feedback } = move;
      return { now, actor: person, type: 'review', verdict, feedback, amount };
    }
    if (move.artifact !== undefined) {
      const [key = '', ...path] = move.artifact.split('=');
      return { now, type: 'note', kind: 'artefact', key, text: path.join('='), at };
    }
    if (move.fail !== undefined) return { now, type: 'fail', reason: move.fail, at };
    if (move.ask !== undefined) return { now, type: 'ask', text: move.ask, at };
    if (move.answer !== undefined) return { now, actor: person, type: 'answer', text: move.answer };
    if (move.reset) return { now, type: 'boundary', by: 'hook', saw: move.reset, at };
    if (move.rewind !== undefined) return { now, actor: person, type: 'rewind', to: move.rewind };
    if (move.spend !== undefined) return { now, type: 'spend', turns: move.spend };
    if (move.advance !== undefined) return { now, type: 'advance', output: move.advance, at: move.at || at };
    return { now, type: 'status', at };
  };
}

/** One entry of a script: exactly one of these keys, besides `at` and `feedback`. */
export interface ScriptedMove {
  advance?: string;
  /** The handle to send; by default that of the open position. */
  at?: string;
  fail?: string;
  tasks?: string[];
  /** `green` or `pass`, `red` or `fail`, or the text of the only red gate. A condition is also evaluated. */
  gates?: string;
  /** `spec_path=docs/spec.md`: the agent notes a file that it wrote. */
  artifact?: string;
  review?: 'approve' | 'revise' | 'pivot' | 'escalate' | 'abandon';
  feedback?: string;
  ask?: string;
  answer?: string;
  reset?: 'clear' | 'compact';
  rewind?: string;
  spend?: number;
  status?: true;
}

export const moveKeys = [
  'advance',
  'fail',
  'tasks',
  'gates',
  'artifact',
  'review',
  'ask',
  'answer',
  'reset',
  'rewind',
  'spend',
  'status',
] as const;

/** Throws a usage error for a word that is no result and names no gate of the position. */
function passesIn(result: string, { checking, path }: Cursor): (gate: Gate) => boolean {
  if (result === 'green' || result === 'pass') return () => true;
  if (result === 'red' || result === 'fail') return () => false;
  const isNamed = (gate: Gate): boolean => gateText(gate) === result || gate.run === result;
  const gates = (checking?.gates ?? []).map(({ gate }) => gate);
  if (gates.some(isNamed)) return (gate) => !isNamed(gate);
  throw usageError(
    `'gates: ${result}' is neither green nor red, nor a gate of ${path}: ${gates.map(gateText).join(', ')}.`,
  );
}

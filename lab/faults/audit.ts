import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../../src/engine/index.ts';
import { replay } from '../../src/machine/index.ts';
import { auditAnswers, type Finding } from '../../test/sim/ledger.ts';
import { inParallel } from '../parallel.ts';
import { type Driven, positions } from './drive.ts';

export interface Audit {
  /** Steps completed according to the database. */
  steps: number;
  findings: Finding[];
}

/** Compares the responses of every agent with the database, using an engine outside the servers. */
export async function auditRuns(engine: Engine, driven: readonly Driven[]): Promise<Audit> {
  const findings: Finding[] = [];
  let steps = 0;
  await inParallel(driven.length, 8, async (number) => {
    const one = driven[number];
    if (!one) return;
    if (one.problem !== undefined) findings.push({ kind: 'wrong', what: `${one.run} ${one.problem}` });
    const loaded = await engine.view(one.run);
    if (!loaded) {
      findings.push({ kind: 'lost', what: `${one.run} is not in the database` });
      return;
    }
    const entries = await engine.entries(one.run);
    const events = entries.flatMap((entry) => entry.events);
    const completed = events.filter(({ type }) => type === 'position.completed').length;
    const noted = events.filter(({ type }) => type === 'note.added').length;
    steps += completed;
    if (loaded.state.status !== 'complete' || completed !== positions || noted !== positions)
      findings.push({
        kind: completed > positions || noted > positions ? 'twice' : 'wrong',
        what: `${one.run} is ${loaded.state.status} after ${completed} steps and ${noted} notes`,
      });
    if (!isDeepStrictEqual(replay(loaded.definition, null, events), loaded.state))
      findings.push({ kind: 'wrong', what: `a replay of ${one.run} gives another state` });
    const answers = one.answers.map(({ reply, ...sent }, id) => ({ wish: { id, ...sent }, reply }));
    findings.push(
      ...auditAnswers(answers, entries).map(({ kind, what }) => ({ kind, what: `${one.run}: ${what}` })),
    );
  });
  return { steps, findings };
}

/** Counts the runs of this suite: a start that was applied twice would leave an extra one. */
export async function strayRuns(
  engine: Engine,
  suite: string,
  driven: readonly Driven[],
): Promise<Finding[]> {
  const known = new Set(driven.map(({ run }) => run));
  const found = (await engine.ids()).filter((run) => run.startsWith(`faults-${suite}-`) && !known.has(run));
  return found.map((run) => ({ kind: 'twice', what: `${run} was started by no agent` }));
}

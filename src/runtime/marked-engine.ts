import type { Engine, Executed } from '../engine/index.ts';
import type { Command } from '../machine/index.ts';
import { createMarks, type Marks, markedRuns, markRun, unmarkRun } from '../workspace/index.ts';
import { createBindings } from './sessions/binding-files.ts';
import { createEndNotices } from './sessions/end-notices.ts';

const endings = ['complete', 'failed', 'cancelled'];

/**
 * Wraps an engine: marks are written and removed with its runs, and the bindings of a run are removed when it ends. A
 * mark that cannot be written never fails the call.
 */
export function withMarks(engine: Engine, directory: string): Engine {
  const marks = createMarks(directory);
  return {
    ...engine,
    async begin(definition, command, circumstances, once) {
      const executed = await engine.begin(definition, command, circumstances, once);
      if (!('code' in executed.reply)) quietly(() => markRun(marks, executed.run, definition));
      return executed;
    },
    async execute(run, command, key, circumstances) {
      const executed = await engine.execute(run, command, key, circumstances);
      if (executed.changed && hasEnded(executed)) await dropped(run, true);
      else if (executed.changed && changesMarks(command)) await marked(run);
      return executed;
    },
    async remove(run) {
      await engine.remove(run);
      await dropped(run);
    },
  };

  async function marked(run: string): Promise<void> {
    const view = await engine.view(run);
    if (view) quietly(() => markRun(marks, run, view.definition, view.state));
  }

  async function dropped(run: string, ended = false): Promise<void> {
    quietly(() => unmarkRun(marks, run));
    const bindings = createBindings(directory);
    for (const binding of await bindings.list()) {
      if (binding.run !== run) continue;
      const { host, session, agent, endedAt } = binding;
      if (ended && agent === undefined && endedAt === undefined)
        quietly(() => createEndNotices(directory).leave({ host, session }, run));
      await bindings.drop(binding).catch(() => {});
    }
  }
}

/** Recreates the marks of all runs, for instance after a pull or an import. */
export async function renewMarks(engine: Engine, directory: string): Promise<void> {
  const marks: Marks = createMarks(directory);
  const ids = new Set(await engine.ids());
  for (const run of markedRuns(marks)) if (!ids.has(run)) unmarkRun(marks, run);
  for (const { run, state } of await engine.runs()) {
    const view = state && (await engine.view(run));
    if (view) markRun(marks, run, view.definition, view.state);
  }
}

/** A rewind begins an ended run again, and a driver needs to know more. */
const changesMarks = (command: Command): boolean =>
  command.type === 'rewind' || (command.type === 'drive' && command.change !== 'renew');

const hasEnded = ({ reply }: Executed): boolean => !('code' in reply) && endings.includes(reply.status);

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // `renewMarks` recreates them.
  }
}

/** A runtime whose gates run in this process, which saves a process per gate. Their commands are real. */
import { type LocalRuntime, openRuntime, type RuntimeOptions } from '../../src/runtime/index.ts';
import type { Loaded } from '../../src/store/index.ts';

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A gate runner handles signals until its process ends, but this process goes on. */
async function withoutSignals(act: () => Promise<void>): Promise<void> {
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
  await act();
  for (const signal of signals)
    for (const listener of process.listeners(signal))
      if (!before.has(listener)) process.off(signal, listener);
}

export function runtimeWithGates(options: Omit<RuntimeOptions, 'runner'>): LocalRuntime {
  // Without a program, nothing but the functions below starts gates.
  const runner = undefined as unknown as RuntimeOptions['runner'];
  const runtime = openRuntime({ ...options, runner });
  const { gates } = runtime.workspace;
  const { perform } = gates;
  const begun = new Set<string>();

  function ensure({ run, state }: Loaded, id: string): void {
    if (begun.has(id)) return;
    begun.add(id);
    const { task } = Object.values(state.cursors).find(({ checking }) => checking?.id === id) ?? {};
    const cwd = runtime.workspace.taskWorktree(run, task);
    const there = cwd === undefined ? runtime : openRuntime({ ...options, cwd, runner });
    // A run that was removed in the meantime needs no result.
    void withoutSignals(async () => await there.runGates(run, id))
      .then(async () => {
        const view = await runtime.engine.view(run);
        // A command of the engine may follow.
        for (const { checking } of Object.values(view?.state.cursors ?? {}))
          if (view && checking && !checking.runner) ensure(view, checking.id);
      })
      .catch(() => {});
  }

  Object.assign(gates, {
    ensureRunner: ensure,
    perform: async (...args: Parameters<typeof perform>) => {
      const [view, effects] = args;
      const warning = await perform(...args);
      for (const effect of effects) if (effect.type === 'runGates') ensure(view, effect.id);
      return warning;
    },
  });
  return runtime;
}

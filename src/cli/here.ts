import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../command-name.ts';
import { StepfastError } from '../errors.ts';
import { statusOf } from '../machine/index.ts';
import { isPerson } from './caller.ts';
import type { Io } from './io.ts';
import { isLive, runTable } from './look/run-table.ts';
import { openRuntime } from './run-options.ts';
import { findAgentSession } from './view/agent-session.ts';
import { runLines } from './view/run-view.ts';

const serverTimeoutMs = 2_000;

/** The open runs in this directory. Empty where they cannot be read: `stepfast` alone always works. */
export async function runsHere(io: Io): Promise<string> {
  try {
    const runtime = openRuntime(io, {}, { patienceMs: serverTimeoutMs });
    const live = (await runtime.engine.runs()).filter(isLive);
    const [only, second] = live;
    if (second) return runTable(live, io);
    const view = only && (await runtime.engine.view(only.run));
    if (!view) {
      const isSetUp = existsSync(join(runtime.project.worktree, '.stepfast'));
      return isSetUp
        ? 'No run is open here.\n'
        : `Stepfast is not set up here. Set it up: ${commandName()} init\n`;
    }
    const { definition, state } = view;
    const [cursor, another] = Object.values(state.cursors);
    const status = statusOf(definition, state, { cursor: another ? undefined : cursor });
    const agent = await findAgentSession(runtime, state, io);
    const lines = runLines({ definition, state, status, tree: undefined, worker: !isPerson(io), agent }, io);
    return `${lines.join('\n')}\n`;
  } catch (error) {
    if (error instanceof StepfastError) return '';
    throw error;
  }
}

import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { createStage } from './demo-project.ts';
import { createTeller, Interrupted } from './narrator.ts';
import { tell } from './story.ts';

export const options = { fast: { type: 'boolean' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const stopped = new AbortController();
  const quiet = io.onInterrupt(() => stopped.abort());
  const stage = createStage(io);
  try {
    await tell(stage, createTeller(io, { fast: values.fast ?? false, signal: stopped.signal }), io);
    return exit.ok;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    io.stdout.write('\n');
    return exit.no;
  } finally {
    stage[Symbol.dispose]();
    quiet();
  }
}

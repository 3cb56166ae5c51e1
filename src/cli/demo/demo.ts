import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { createDemoProject } from './demo-project.ts';
import { createNarrator, Interrupted } from './narrator.ts';
import { playDemo } from './play-demo.ts';

export const options = { fast: { type: 'boolean' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const stopped = new AbortController();
  const stopListening = io.onInterrupt(() => stopped.abort());
  const demo = createDemoProject(io);
  try {
    await playDemo(demo, createNarrator(io, { fast: values.fast ?? false, signal: stopped.signal }), io);
    return exit.ok;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    io.stdout.write('\n');
    return exit.no;
  } finally {
    demo[Symbol.dispose]();
    stopListening();
  }
}

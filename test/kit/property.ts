/**
 * A setup file of vitest: how fast-check chooses its values in every property test. The seed is fixed, so that a run of
 * the tests gives the same result twice; with STEPFAST_RANDOM_SEEDS=1 each file gets a new one. A failure ends with the
 * command that replays it.
 */
import { relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { chosenSeed } from './seed.ts';

/** fast-check follows a global path as well; only its types leave it out. */
export function propertyParameters(env: Readonly<NodeJS.ProcessEnv>): fc.GlobalParameters & { path: string } {
  return { seed: chosenSeed(env.STEPFAST_SEED, env), path: env.STEPFAST_PATH ?? '', reporter: report };
}

function report(details: fc.RunDetails<unknown>): void {
  if (!details.failed) return;
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = relative(process.cwd(), testPath);
  const command = replayCommand(details, file, currentTestName);
  const how = `Replay it, or without STEPFAST_PATH all runs of its seed:\n${command}`;
  throw new Error(`${fc.defaultReportMessage(details)}\n\n${how}\n`, { cause: details.errorInstance });
}

/** One line for a shell. */
export function replayCommand(
  { seed, counterexamplePath }: Pick<fc.RunDetails<unknown>, 'seed' | 'counterexamplePath'>,
  file: string,
  testName: string,
): string {
  // A pattern: a point matches what a shell or a regular expression would read as something else.
  const pattern = testName.replace(/[^\w ,:/-]/g, '.');
  return `STEPFAST_SEED=${seed} STEPFAST_PATH=${counterexamplePath} npx vitest run ${file} -t '${pattern}'`;
}

fc.configureGlobal(propertyParameters(process.env));

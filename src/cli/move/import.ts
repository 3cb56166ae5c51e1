import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import { type LocalRuntime, renewMarks } from '../../runtime/index.ts';
import { readText, readTextFile } from '../act/read-text.ts';
import { type Archive, readArchive, replayArchive } from '../archive.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, projectOptions } from '../run-options.ts';

export const options = projectOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'file' });
  const [file = ''] = positionals;
  const text = file === '-' ? await readText(file, io) : readTextFile(file, io);
  const archive = readArchive(text, file);
  const states = replayArchive(archive, file);
  const runtime = openRuntime(io, values);
  await requireFreeId(archive.run, runtime);
  await importRun(archive, states, runtime);
  await renewMarks(runtime.engine, runtime.project.directory);
  if (values.json) return printJson(io, { run: archive.run, entries: archive.entries.length }, exit.ok);
  io.stdout.write(`Imported ${archive.run}. Run: ${commandName()} status ${suffixOf(archive.run)}\n`);
  return exit.ok;
}

/** Both the id and its suffix, which handles use, must be free. */
async function requireFreeId(run: string, { engine }: LocalRuntime): Promise<void> {
  const known = [...(await engine.ids()), ...(await engine.ids(suffixOf(run)))];
  const taken = known.find((id) => id === run || suffixOf(id) === suffixOf(run));
  if (taken === undefined) return;
  throw new StepfastError(
    'run_exists',
    `Run ${taken} already exists${taken === run ? '' : ` and has the same suffix as ${run}`}. Nothing was imported.`,
  );
}

async function importRun(
  { run, definition, hash, entries, texts }: Archive,
  states: ReturnType<typeof replayArchive>,
  { store }: LocalRuntime,
): Promise<void> {
  try {
    for (const [digest, text] of Object.entries(texts)) {
      const kept = await store.keep(run, text);
      if (kept.digest !== digest)
        throw new StepfastError(
          'bad_archive',
          `The text ${digest.slice(0, 19)}… does not match its digest. Nothing was imported.`,
        );
    }
    const conflict = new StepfastError(
      'busy',
      `${run} was changed by another process during the import. Try again.`,
    );
    for (const [index, entry] of entries.entries()) {
      const state = states[index];
      if (!state) continue;
      const loaded = index === 0 ? undefined : await store.load(run);
      const written = loaded
        ? await store.append(loaded, entry, state)
        : await store.create(run, { definition, hash }, entry, state);
      if (written === 'conflict' || written === 'taken') throw conflict;
    }
  } catch (error) {
    // Removes a partially imported run.
    await store.remove(run);
    throw error;
  }
}

import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import type { WorkflowState } from '../../machine/index.ts';
import { describedByState, type LocalRuntime, renewMarks } from '../../runtime/index.ts';
import { ignoreRuns, isChecked, parseSavedState } from '../../workspace/index.ts';
import { adoptFile } from '../act/adopt.ts';
import { readText, readTextFile } from '../act/read-text.ts';
import { type Archive, readArchive, replayArchive } from '../archive.ts';
import { readArgs } from '../args.ts';
import { callerOf, personOnly } from '../caller.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, projectOptions } from '../run-options.ts';

export const options = { ...projectOptions, workflow: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'file' });
  const [file = ''] = positionals;
  const text = file === '-' ? await readText(file, io) : readTextFile(file, io);
  if (file !== '-' && describedByState(text)) {
    const { workflow: _, ...rest } = values;
    return await adoptFile(file, io, rest);
  }
  const saved = parseSavedState(text);
  if (saved) return await importSaved(saved, io, values);
  const archive = readArchive(text, file);
  const states = replayArchive(archive, file);
  const runtime = openRuntime(io, values);
  await requireFreeId(archive.run, runtime);
  await importRun(archive, states, runtime);
  await renewMarks(runtime.engine, runtime.project.directory);
  return printImported(archive.run, archive.entries.length, io, values);
}

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

/** A run that was saved by Lanes, or by the library. */
async function importSaved(saved: WorkflowState, io: Io, values: Values): Promise<number> {
  if (values.workflow === undefined)
    throw usageError('This is the saved state of a workflow. Name the workflow: --workflow <name>');
  const runtime = openRuntime(io, values);
  const { definition } = runtime.resolve(values.workflow);
  const command = `${commandName()} import <file> --workflow ${values.workflow}`;
  // The saved state would stand for gates and reviews.
  const refused = isChecked(definition)
    ? personOnly(io, 'continue a workflow with gates or reviews from a file', command)
    : undefined;
  if (refused) return printRefusal(refused, io, values);
  const { actor, session } = callerOf(io);
  const opening = { now: io.now(), actor, session, type: 'import', state: saved } as const;
  ignoreRuns(runtime.project);
  const { run, reply } = await runtime.engine.begin(definition, opening, {
    values: { project_root: runtime.project.root },
  });
  if ('code' in reply) return printRefusal(reply, io, values);
  return printImported(run, Object.keys(saved.outputs).length, io, values);
}

function printImported(run: string, entries: number, io: Io, { json }: Values): number {
  if (json) return printJson(io, { run, entries }, exit.ok);
  io.stdout.write(`Imported ${run}. Run: ${commandName()} status ${suffixOf(run)}\n`);
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

import { writeFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { commandName } from '../../command-name.ts';
import {
  artifactsText,
  type Briefing,
  briefingJson,
  briefingSection,
  type Cap,
  compileBriefing,
  maxArtifacts,
} from '../../context/index.ts';
import { criticalArtifacts, leastBriefing, statusOf } from '../../machine/index.ts';
import { nextForShell, printableLines } from '../../messages/index.ts';
import { type CallerIdentity, cursorFor, type LocalRuntime } from '../../runtime/index.ts';
import { sectionNames } from '../../schema/index.ts';
import { didYouMean } from '../../suggest.ts';
import { readArgs } from '../args.ts';
import { callerOf, readerOf } from '../caller.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson, printRefusal } from '../perform.ts';
import { shown } from '../project.ts';
import { runToName, suffixOf } from '../run-name.ts';
import { openRuntime, type ProjectValues, positionOptions } from '../run-options.ts';
import { explainTable } from './explain.ts';
import { reloadedJson, reloadedLines } from './reloaded.ts';

export const options = {
  ...positionOptions,
  'run-id': { type: 'string' },
  artifacts: { type: 'string' },
  force: { type: 'boolean' },
  section: { type: 'string' },
  budget: { type: 'string' },
  characters: { type: 'string' },
  markdown: { type: 'boolean' },
  explain: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
} as const;

type Values = ProjectValues & {
  [name in keyof Omit<typeof options, 'json' | 'repo-root' | 'worktree'>]?:
    | ((typeof options)[name] extends { type: 'boolean' } ? boolean : string)
    | undefined;
};

export const run = (args: readonly string[], io: Io): Promise<number> => prime(args, io, 'reloaded');

type Loaded = NonNullable<Awaited<ReturnType<LocalRuntime['engine']['view']>>>;

/** `restored` also reports what differs on this machine. */
export async function prime(args: readonly string[], io: Io, what: 'reloaded' | 'restored'): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const names = [positionals[0], values['run-id'], values.run].filter((name) => name !== undefined);
  if (names.length > 1) throw usageError('Pass the run only once.');
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun({ run: names[0], at: values.at });
  if ('code' in found) return printRefusal(found, io, { ...values, run: names[0] });
  const view = await runtime.loadRun({ run: found.run });
  if ('code' in view) throw notFound(`There is no run '${found.run}'.`);
  const who = callerOf(io);
  const only = artifactsIn(values.artifacts, view);
  const section = only ? 'artifacts' : sectionIn(values.section);
  const source = await runtime.briefings.gather(view, {
    ...(await briefingOptions(view, runtime, who, { at: values.at, run: names[0] })),
    artifacts: only,
    force: values.force === true || section !== undefined,
    section,
    reader: readerOf(io),
  });
  if (section !== undefined && only === undefined) {
    io.stdout.write(`${printableLines(briefingSection(source, section)).join('\n')}\n`);
    return exit.ok;
  }
  const briefing = compileBriefing(source, capOf(values, view));
  if (values.explain) return await explain(briefing, capOf(values, view), io, values);
  if (values.output !== undefined) throw usageError('--output needs --explain.');
  const alone = only ? artifactsText(source.artifacts, source.more, maxArtifacts) : undefined;
  const { inlined } = alone ?? briefing;
  const text = alone?.text ?? (values.markdown ? briefing.markdown : briefing.text);
  // Only a session that names the run or resumes it is bound to it.
  if (who.session !== undefined && (names.length > 0 || values.at !== undefined || what === 'restored'))
    await runtime.call({ type: 'session', event: { type: 'seen' } }, who, { run: view.run });
  const { artifacts } = source;
  await runtime.briefings.recordShown(view, who, { artifacts, ...(alone ?? briefing), trigger: 'manual' });
  const reloaded = {
    what,
    view,
    artifacts: source.artifacts,
    inlined,
    differences: what === 'restored' ? await runtime.briefings.differences(view, who.session) : [],
  };
  // Reload the view if the session was bound above.
  const bound = who.session === undefined || Object.hasOwn(view.state.sessions, who.session);
  const after = bound ? view : ((await runtime.engine.view(view.run)) ?? view);
  if (values.json) {
    return printJson(
      io,
      { ...reloadedJson({ ...reloaded, view: after }), briefing: briefingJson(briefing) },
      exit.ok,
    );
  }
  io.stdout.write(`${reloadedLines({ ...reloaded, view: after }, io).join('\n')}\n\n`);
  io.stdout.write(`${printableLines(text).join('\n')}\n`);
  return exit.ok;
}

async function briefingOptions(
  view: Loaded,
  runtime: LocalRuntime,
  { session }: CallerIdentity,
  { at, run }: { at: string | undefined; run: string | undefined },
) {
  const cursor = cursorFor(view, { at, session });
  const status = statusOf(view.definition, view.state, {
    cursor,
    session,
    values: { project_root: runtime.project.root },
  });
  // A run that was found without a name needs none in commands.
  const name = run === undefined && at === undefined ? undefined : await runToName(runtime, view.run);
  const { say, commands } = nextForShell(status.action, name);
  const more = `${commandName()} prime ${suffixOf(view.run)} --section {section}`;
  return { session, cursor, next: [say, ...commands.slice(0, 1)].join(' '), more };
}

function artifactsIn(text: string | undefined, { definition }: Loaded): string[] | undefined {
  if (text === undefined) return undefined;
  const known = criticalArtifacts(definition).map(({ id }) => id);
  const ids = text.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return ids;
  const hint =
    known.length === 0
      ? `'${definition.name}' declares no critical artifacts.`
      : (didYouMean(unknown, known) ?? `Use one of: ${known.join(', ')}.`);
  throw usageError(`There is no critical artifact '${unknown}'. ${hint}`);
}

function sectionIn(text: string | undefined) {
  if (text === undefined) return undefined;
  const section = sectionNames.find((name) => name === text);
  if (section) return section;
  throw usageError(
    `There is no section '${text}'. ${didYouMean(text, sectionNames) ?? `Use one of: ${sectionNames.join(', ')}.`}`,
  );
}

/** The options, else the workflow's budget. */
function capOf({ budget, characters }: Values, { definition }: Loaded): Cap {
  const cap = {
    tokens: numberIn('budget', budget, leastBriefing.tokens),
    characters: numberIn('characters', characters, leastBriefing.characters),
  };
  if (cap.tokens !== undefined || cap.characters !== undefined) return cap;
  return { tokens: definition.briefing?.budget ?? leastBriefing.tokens };
}

function numberIn(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/.test(text) && Number(text) >= least) return Number(text);
  throw usageError(`--${name} takes a number of at least ${least}, not '${text}'.`);
}

/** Prints the token usage as a table, or draws it to a file. */
async function explain(briefing: Briefing, cap: Cap, io: Io, { output, json }: Values): Promise<number> {
  if (json) return printJson(io, { ...briefingJson(briefing), cap }, exit.ok);
  if (output === undefined) {
    io.stdout.write(explainTable(briefing, cap, io));
    return exit.ok;
  }
  if (extname(output).toLowerCase() !== '.svg')
    throw usageError(`--output must end in .svg, got '${output}'.`);
  const { explainSvg } = await import('./explain-svg.ts');
  const file = resolve(io.cwd, output);
  try {
    writeFileSync(file, explainSvg(briefing, cap));
  } catch (cause) {
    throw notFound(`Cannot write ${file}: ${cause instanceof Error ? cause.message : ''}`, cause);
  }
  io.stderr.write(`Wrote ${shown(file, io)}\n`);
  return exit.ok;
}

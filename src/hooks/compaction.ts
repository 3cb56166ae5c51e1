import { commandsOf } from '../definition/index.ts';
import { noteLine, requiredReading } from '../machine/index.ts';
import { type HookOutput, rescan } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { compileAhead } from './briefing-ahead.ts';
import { whereIs } from './compile-briefing.ts';
import { journalSize } from './facts.ts';
import { wasBriefed } from './session-record.ts';
import type { Visit } from './visit.ts';

const maxCharacters = 8000;
const mostPaths = 40;
const mostCommands = 10;

/**
 * Before a context is emptied: whoever summarises is told what must survive, and the next prompt or tool delivers the
 * briefing should no session start follow. Nobody waits for this hook as for the next, so that briefing is compiled
 * here. The state needs no saving: it was written with every transition.
 */
export async function beforeCompact(visit: Visit): Promise<HookOutput> {
  const { place, notebook, key, input, session } = visit;
  const adopted = await rescan(
    { engine: place.engine, project: place.project, clock: place.now },
    { actor: { kind: 'engine' } },
  );
  const binding = await place.bindings.get(key);
  const told = wasBriefed(notebook.sent) ? notebook.sent.run : undefined;
  const run = binding?.run ?? told ?? (input.agent ? undefined : adopted[0]?.run);
  if (run === undefined || run === '') return {};
  // Before the run is read: what is written meanwhile makes stale what was compiled, not wrong.
  const journal = journalSize(place.project, run);
  const view = await place.engine.view(run);
  if (!view) return {};
  if (adopted.some(({ how, run: made }) => how === 'adopted' && made === view.run))
    await place.sessions.called(key, { run: view.run, cwd: input.cwd });
  const at = binding?.at ?? notebook.sent?.at;
  // What cannot be compiled now is compiled after it.
  const ahead =
    binding && !input.agent
      ? await compileAhead(visit, view, { binding, journal }).catch(() => undefined)
      : undefined;
  notebook.send({
    run: view.run,
    source: 'compact',
    tries: 1,
    ...(at === undefined ? {} : { at }),
    ...(ahead ? { ahead } : {}),
  });
  return { survive: survivors(view, visit, at, session) };
}

/** Instructions for a summariser, so these are orders. */
function survivors(view: Loaded, { place }: Visit, at: string | undefined, session: string): string {
  const { definition, state, run } = view;
  const { status, next } = whereIs(view, place, { session, at });
  const where = [status.step, status.task?.id, status.subStep].filter((part) => part !== undefined).join('/');
  const paths = pathsIn(view);
  const parts = [
    'Keep the following word for word in the summary, under a heading "Stepfast run":',
    `- run ${run}, workflow '${definition.name}', phase ${status.phase.current}/${status.phase.total}, position ${where}${status.at === undefined ? '' : `, handle ${status.at}`}`,
    `- next: ${next}`,
    ...state.notes.map(noteLine),
    ...Object.entries(state.variables).map(([name, value]) => `- ${name}: ${value}`),
    ...(paths.length === 0 ? [] : [`- files: ${paths.join(', ')}`]),
    ...commandsIn(view).map((command) => `- command: ${command}`),
  ];
  let text = '';
  for (const part of parts) if (text.length + part.length < maxCharacters) text += `${part}\n`;
  return text;
}

const pathsIn = ({ definition, state }: Loaded): string[] =>
  [...requiredReading(definition, state), ...state.artefacts.slice(-mostPaths)].slice(0, mostPaths);

const commandsIn = ({ definition }: Loaded): string[] => commandsOf(definition).slice(0, mostCommands);

/** After it: what the summary has of all that, word for word, is recorded in the run. */
export async function afterCompact({ place, key, input, session }: Visit): Promise<HookOutput> {
  const binding = await place.bindings.get(key);
  const view = binding && (await place.engine.view(binding.run));
  if (!view || input.summary === undefined) return {};
  const summary = plain(input.summary);
  const has = (text: string): boolean => summary.includes(plain(text).trim());
  const { notes, variables } = view.state;
  const [kept, lost]: [string[], string[]] = [[], []];
  for (const { id, text } of notes) (has(text) ? kept : lost).push(id);
  const at = whereIs(view, place, { session, at: binding.at }).status.at ?? view.run;
  const paths = pathsIn(view).map((path) => path.replace(/^@/, ''));
  const others = [at, ...Object.values(variables), ...paths, ...commandsIn(view)];
  const event = {
    type: 'compacted',
    trigger: input.trigger ?? 'manual',
    asked: notes.length + others.length,
    found: kept.length + others.filter(has).length,
    kept,
    lost,
  } as const;
  await place.engine.execute(view.run, { now: place.now(), session, type: 'session', event });
  return {};
}

/** Line breaks and emphasis are the summariser's own. */
const plain = (text: string): string => text.replaceAll(/[\s*_`]+/g, ' ').toLowerCase();

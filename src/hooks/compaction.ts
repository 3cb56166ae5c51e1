import { commandsOf } from '../definition/index.ts';
import { noteLine, ownVariables, requiredReading, respond } from '../machine/index.ts';
import { compactionText } from '../messages/index.ts';
import { type HookOutput, rescan, resetOf } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { positionOf } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import { prepareBriefing } from './prepared-briefing.ts';
import { endOf } from './session-files.ts';
import { watchTools } from './session-record.ts';

const maxCharacters = 8000;
const maxPaths = 40;
const maxCommands = 10;

/**
 * Before a compaction: tells the summarizer what to keep, and makes a briefing due, so that the next prompt or tool
 * delivers it if no session start follows. There is nothing to save, since every transition is written at once.
 */
export async function beforeCompact(event: HookEvent): Promise<HookOutput> {
  const { host, context, record, key, input, session } = event;
  const adopted = await rescan(
    { engine: context.engine, project: context.project, clock: context.now },
    { actor: { kind: 'engine' } },
  );
  const live = await context.engine.runs();
  const bound = await context.bindings.get(key);
  // The run that the session worked on may have ended since.
  const binding = bound && live.some(({ run }) => run === bound.run) ? bound : undefined;
  const [own, second] = live.filter(({ state }) => state && Object.hasOwn(state.sessions, session));
  const other = adopted[0]?.run ?? (second ? undefined : own?.run);
  const run = binding?.run ?? (input.agent ? undefined : other);
  const view = run === undefined || run === '' ? undefined : await context.engine.view(run);
  if (!view) return {};
  if (adopted.some(({ how, run: created }) => how === 'adopted' && created === view.run))
    await context.sessions.called(key, { run: view.run, cwd: input.cwd });
  const at = binding?.at ?? record.delivery?.at;
  // A briefing that cannot be compiled now is compiled after the compaction.
  const prepared =
    binding && !input.agent ? await prepareBriefing(event, view, binding).catch(() => undefined) : undefined;
  record.setDelivery({
    run: view.run,
    source: 'compact',
    tries: 1,
    since: context.now(),
    ...(at === undefined ? {} : { at }),
    ...(prepared ? { prepared } : {}),
  });
  // Where no session start follows, the next tool delivers it.
  if (host.compaction === 'hint') watchTools(context.project, key);
  // The reset itself may be what the run waits for: the text is about what comes after it.
  const reset = binding && resetOf(view.state, binding, 'compact', context.nowOf(view.run));
  const after = {
    ...view,
    state: (reset && respond(view.definition, view.state, reset).state) ?? view.state,
  };
  if (input.trigger === 'manual')
    return {
      survive: compactionText(view.definition.name, positionOf(after, context, { session, at }).status.step),
    };
  return { survive: summaryInstructions(after, event, at, session) };
}

function summaryInstructions(
  view: Loaded,
  { context }: HookEvent,
  at: string | undefined,
  session: string,
): string {
  const { definition, state, run } = view;
  const { status, next } = positionOf(view, context, { session, at });
  const where = [status.step, status.task?.id, status.subStep].filter((part) => part !== undefined).join('/');
  const paths = pathsIn(view);
  const parts = [
    'Keep the following word for word in the summary, under a heading "Stepfast run":',
    `- run ${run}, workflow '${definition.name}', phase ${status.phase.current}/${status.phase.total}, position ${where}${status.at === undefined ? '' : `, handle ${status.at}`}`,
    `- next: ${next}`,
    ...state.notes.map(noteLine),
    ...(state.adopted?.reminders ?? []).map((reminder) => `- ${reminder}`),
    ...Object.entries(ownVariables(state)).map(([name, value]) => `- ${name}: ${value}`),
    ...(paths.length === 0 ? [] : [`- files: ${paths.join(', ')}`]),
    ...commandsIn(view).map((command) => `- command: ${command}`),
  ];
  let text = '';
  for (const part of parts) if (text.length + part.length < maxCharacters) text += `${part}\n`;
  return text;
}

const pathsIn = ({ definition, state }: Loaded): string[] =>
  [...requiredReading(definition, state), ...state.artefacts.slice(-maxPaths)].slice(0, maxPaths);

const commandsIn = ({ definition }: Loaded): string[] => commandsOf(definition).slice(0, maxCommands);

/** After a compaction: records in the run which of these facts the summary has word for word. */
export async function recordCompaction({ host, context, key, input, session }: HookEvent): Promise<void> {
  const binding = await context.bindings.get(key);
  const view = binding && (await context.engine.view(binding.run));
  const end = input.transcript === undefined ? undefined : endOf(input.transcript);
  const compaction = end === undefined ? undefined : host.lastCompaction?.(end);
  if (!view || !compaction) return;
  const summary = normalized(compaction.summary);
  const has = (text: string): boolean => summary.includes(normalized(text).trim());
  const { notes } = view.state;
  const [kept, lost]: [string[], string[]] = [[], []];
  for (const { id, text } of notes) (has(text) ? kept : lost).push(id);
  const at = positionOf(view, context, { session, at: binding.at }).status.at ?? view.run;
  const paths = pathsIn(view).map((path) => path.replace(/^@/, ''));
  const others = [at, ...Object.values(ownVariables(view.state)), ...paths, ...commandsIn(view)];
  const compacted = {
    type: 'compacted',
    trigger: compaction.trigger,
    asked: notes.length + others.length,
    found: kept.length + others.filter(has).length,
    kept,
    lost,
  } as const;
  const command = { now: context.now(), session, type: 'session', event: compacted } as const;
  await context.engine.execute(view.run, command);
}

/** Summarizers change line breaks and emphasis. */
const normalized = (text: string): string => text.replaceAll(/[\s*_`]+/g, ' ').toLowerCase();

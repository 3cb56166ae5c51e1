import { grantsOf, hashGrants } from '../definition/index.ts';
import { handleOf, usedUp } from '../machine/index.ts';
import {
  decidedText,
  holdSetText,
  nothingOpenText,
  nothingWaitsText,
  notTypedText,
  otherCodeText,
  refusalText,
  runCancelledText,
  shellVoice,
  type TypedDecision,
  terminalCommand,
  terminalOnlyText,
  trustText,
  typedDecisions,
  usageText,
} from '../messages/index.ts';
import { createEndNotices, createHolds, type HookOutput, isRefused, type Request } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { decidesIn, type LocalWorkspace, requireOwnFolders } from '../workspace/index.ts';
import { decisionCode } from './decision-code.ts';
import type { HookEvent } from './hook-event.ts';
import { joinRun } from './join-run.ts';
import { openNextPosition } from './next-position.ts';
import { personNotice } from './notify-person.ts';
import { parseBudget } from './typed-budget.ts';
import { waitUntil } from './wait-until.ts';

const historyMs = 500;

// Written for any name that follows `/stepfast:`.
export const isDecision = (name: string): name is TypedDecision =>
  (typedDecisions as readonly string[]).includes(name);

/** Records what a person typed, and nothing that a model scheduled. */
export async function decide(event: HookEvent, name: TypedDecision, words: string): Promise<HookOutput> {
  const { host, input, context } = event;
  // The host may write its history a moment later.
  const isTyped = (): boolean => host.typed?.(input, context.env, context.home) ?? false;
  if (!(await waitUntil(isTyped, historyMs))) return { stop: notTypedText(terminalCommand(name)) };
  if (decidesIn(context.home, context.env) === 'terminal')
    return { stop: terminalOnlyText(terminalCommand(name), 'configured') };
  if (name === 'hold') return hold(event, words);
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  if (name === 'trust') return trust(runtime.workspace, words, event);
  const view = await runOfSession(event);
  if (!view) return { stop: nothingOpenText };
  const { run, state, definition } = view;
  if (context.engine.serverOf?.(run) !== undefined)
    return { stop: terminalOnlyText(terminalCommand(name, run), 'server') };
  const request = requestFor(view, name, words);
  if (request === 'other_code') return { stop: otherCodeText(personNotice(view, event, { again: true })) };
  if (request === 'nothing_waits') return { stop: nothingWaitsText(name) };
  if (request === 'amount') return { stop: usageText('budget') };
  if (!request) return { stop: usageText(name === 'answer' ? 'answer' : 'reject') };
  const actor = { kind: 'person' as const, name: context.env.USER ?? 'user' };
  // Within the time of this hook; gates that take longer are reported at the next stop.
  const { reply } = await runtime.call(request, { actor }, { run, waitMs: host.limits.toolHookMs });
  if (isRefused(reply)) {
    const { message, next } = refusalText(reply, shellVoice());
    return { stop: `Stepfast: ${message} ${next}` };
  }
  if (name === 'cancel') {
    createEndNotices(context.project.directory).take(event.key);
    return { stop: runCancelledText(state.summary ?? definition.name) };
  }
  // From now on the turns of this session are checked.
  if ((await context.bindings.get(event.key)) === undefined) await joinRun(event, { run });
  const { next, instructions, feedback } = await openNextPosition(event, view);
  return { context: decidedText(name, { next, instructions, feedback }) };
}

/** The run that the session works on, or the only live one. */
async function runOfSession({ context, key }: HookEvent): Promise<Loaded | undefined> {
  const binding = await context.bindings.get(key);
  const [only, second] = binding ? [binding] : await context.engine.runs();
  return only && !second ? await context.engine.view(only.run) : undefined;
}

/** The command that the words mean; undefined where something is missing. */
function requestFor(
  { run, state }: Loaded,
  name: TypedDecision,
  words: string,
): Request | 'other_code' | 'nothing_waits' | 'amount' | undefined {
  if (name === 'budget') return parseBudget(words, usedUp(state)?.unit) ?? 'amount';
  const cursors = Object.values(state.cursors);
  const waiting = cursors.filter((cursor) => cursor.waiting);
  const [code = '', ...rest] = words.split(/\s+/);
  const named = waiting.find((cursor) => decisionCode(run, cursor) === code);
  const decides = name === 'approve' || name === 'reject';
  if (decides && usedUp(state)) return 'amount';
  if (decides && waiting.length === 0) return 'nothing_waits';
  // What the person saw is no longer what waits.
  if (decides && !named && /^[0-9a-f]{4}$/.test(code)) return 'other_code';
  const said = named ? rest.join(' ') : words;
  const only = (open: typeof cursors) =>
    open.length === 1 && open[0] ? handleOf(state, open[0]) : undefined;
  const at = only(named ? [named] : name === 'done' ? cursors : waiting);
  if (name === 'cancel') return { type: 'cancel', ...(said === '' ? {} : { reason: said }) };
  if (name === 'answer') return said === '' ? undefined : { type: 'answer', text: said };
  if (at === undefined) return decides ? 'other_code' : 'nothing_waits';
  if (name === 'done') return { type: 'advance', at, output: said || 'Done, as the user says.' };
  if (name === 'approve')
    return { type: 'review', verdict: 'approve', at, ...(said === '' ? {} : { feedback: said }) };
  return said === '' ? undefined : { type: 'review', verdict: 'revise', at, feedback: said };
}

/** Shows the commands with a code first, since the file may have changed since the person read it. */
export function trust(
  { resolve, trust: trusted }: LocalWorkspace,
  words: string,
  { host, context }: HookEvent,
): HookOutput {
  const [name = 'go', code] = words === '' ? [] : words.split(/\s+/);
  try {
    const { definition } = resolve(name);
    const grants = grantsOf(definition);
    const wanted = hashGrants(grants).replace(/^\w+:/, '').slice(0, 4);
    // Where nobody can tell who typed it, a terminal decides.
    if (code === wanted && host.typed) trusted.give(definition, { now: context.now(), by: 'person' });
    const missing = trusted.has(definition) ? undefined : wanted;
    const allow = host.typed
      ? `: /stepfast:trust ${name} ${wanted}`
      : `, in a terminal: ${terminalCommand('trust')} ${name}`;
    return {
      stop: trustText(name, grants, missing === undefined ? undefined : allow, trusted.changes(definition)),
    };
  } catch (error) {
    return { stop: `Stepfast: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function hold({ context: { project, state, now } }: HookEvent, command: string): HookOutput {
  if (command === '') return { stop: usageText('hold') };
  const holds = createHolds(project, state);
  if (command === 'off') {
    holds.drop();
    return { stop: holdSetText(undefined) };
  }
  requireOwnFolders(project, ['sessions/marks']);
  holds.set(command, now());
  return { stop: holdSetText(command) };
}

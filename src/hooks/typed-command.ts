import { commandsOf } from '../definition/index.ts';
import { ended, suffixOf } from '../machine/index.ts';
import {
  alreadyOpenText,
  decidedText,
  handedOverText,
  holdSetText,
  nextForTools,
  notTypedText,
  refusalText,
  runCancelledText,
  shellVoice,
  terminalOnlyText,
  trustText,
  usageText,
} from '../messages/index.ts';
import { createEndNotices, createHolds, type HookOutput, isRefused, type Request } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { type LocalWorkspace, requireOwnFolders } from '../workspace/index.ts';
import { positionOf } from './compile-briefing.ts';
import { decisionCode } from './decision-code.ts';
import { deliver } from './deliver-briefing.ts';
import type { HookEvent } from './hook-event.ts';

/** A command that a person types in the session: `/stepfast:go fix the login`. */
export interface TypedCommand {
  name: string;
  words: string;
}

export function typedCommand(prompt: string | undefined): TypedCommand | undefined {
  const [, name, words = ''] = /^\/stepfast:([a-z]+)(?:\s+([\s\S]*))?$/.exec(prompt?.trim() ?? '') ?? [];
  return name === undefined ? undefined : { name, words: words.trim() };
}

/** The engine acts before the model sees the prompt. undefined: the model follows the skill of that name. */
export async function obey(event: HookEvent, typed: TypedCommand): Promise<HookOutput | undefined> {
  const { name, words } = typed;
  switch (name) {
    case 'go':
      return words === '' ? undefined : await start(event, 'go', words, 'task');
    case 'keep':
      return await start(event, 'keep', words, 'goal');
    case 'start': {
      const [workflow = '', ...rest] = words.split(/\s+/);
      return workflow === '' ? undefined : await start(event, workflow, rest.join(' '));
    }
    case 'resume':
      return await resume(event);
    case 'approve':
    case 'reject':
    case 'answer':
    case 'done':
    case 'cancel':
    case 'trust':
    case 'hold':
      return await decide(event, { name, words });
    default:
      return undefined;
  }
}

/** A person typed it, and no model scheduled it. */
const isTyped = ({ host, input, context: { env, home } }: HookEvent): boolean =>
  host.typed?.(input, env, home) ?? false;

async function start(event: HookEvent, workflow: string, words: string, input?: string): Promise<HookOutput> {
  const { context, key, session, host, input: of } = event;
  const binding = await context.bindings.get(key);
  const open = binding && (await context.engine.view(binding.run));
  if (open && !ended(open.state))
    return { stop: alreadyOpenText(open.state.summary ?? open.definition.name) };
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  const summary = words.split(/\s+/).slice(0, 10).join(' ');
  const { run, reply } = await runtime.start(
    {
      workflow,
      ...(summary === '' ? {} : { summary }),
      inputs: input === undefined || words === '' ? {} : { [input]: words },
    },
    { session, host: host.name, witness: 'hooks' },
  );
  if (isRefused(reply) || run === undefined) {
    if (!isRefused(reply)) return {};
    // What is missing can be asked for: the skill says how the run is started then.
    if (reply.code === 'bad_input') return {};
    const { message, next } = refusalText(reply, shellVoice());
    return { stop: [message, next].filter((text) => text !== undefined).join(' ') };
  }
  const pid = context.pid === undefined ? {} : { pid: context.pid };
  const { at } = reply;
  await context.sessions.called(key, { run, ...(at === undefined ? {} : { at }), cwd: of.cwd, ...pid });
  const view = await context.engine.view(run);
  return view ? await deliver(event, view, { at, source: 'startup', why: 'typed' }) : {};
}

/** Binds the session to the live run that it was offered. */
async function resume(event: HookEvent): Promise<HookOutput | undefined> {
  const { context, key, input } = event;
  const runs = (await context.engine.runs()).filter(({ state }) => state && !ended(state));
  const [only, second] = runs;
  if (!only || second) return undefined;
  const view = await context.engine.view(only.run);
  if (!view) return undefined;
  await context.sessions.called(key, { run: view.run, cwd: input.cwd });
  return await deliver(event, view, { source: 'resume', why: 'typed' });
}

async function decide(event: HookEvent, { name, words }: TypedCommand): Promise<HookOutput> {
  const { context } = event;
  if (!isTyped(event)) return { stop: notTypedText(`stepfast ${name}`) };
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  if (name === 'trust') return trust(runtime.workspace, words, context.now());
  if (name === 'hold') return hold(event, words);
  const view = await boundRun(event);
  if (!view) return { stop: usageText(name) };
  if (context.engine.serverOf?.(view.run) !== undefined)
    return { stop: terminalOnlyText(`stepfast ${name} --run ${suffixOf(view.run)}`) };
  const request = requestOf(view, { name, words });
  if (!request) return { stop: usageText(name) };
  const actor = { kind: 'person' as const, name: context.env.USER ?? 'user' };
  const { reply } = await runtime.call(request, { actor }, { run: view.run });
  if (isRefused(reply)) {
    const { message, next } = refusalText(reply, shellVoice({ run: suffixOf(view.run) }));
    return { stop: [message, next].filter((text) => text !== undefined).join(' ') };
  }
  if (name === 'cancel') {
    createEndNotices(context.project.directory).take(event.key);
    return { stop: runCancelledText(view.state.summary ?? view.definition.name) };
  }
  const after = (await context.engine.view(view.run)) ?? view;
  return { context: await goesOn(event, after, name) };
}

/** The run that the session works on, or the only live one. */
async function boundRun({ context, key }: HookEvent): Promise<Loaded | undefined> {
  const binding = await context.bindings.get(key);
  if (binding) return await context.engine.view(binding.run);
  const [only, second] = await context.engine.runs();
  return only && !second ? await context.engine.view(only.run) : undefined;
}

function requestOf({ run, state }: Loaded, { name, words }: TypedCommand): Request | undefined {
  const waiting = Object.values(state.cursors).filter((cursor) => cursor.waiting);
  const [first = '', ...rest] = words.split(/\s+/);
  const meant = waiting.find((cursor) => decisionCode(run, cursor) === first);
  const [cursor, second] = meant ? [meant] : waiting;
  const at = cursor && !second ? `${suffixOf(run)}:${cursor.path}#${cursor.visit}` : undefined;
  const said = meant ? rest.join(' ') : words;
  switch (name) {
    case 'approve':
      return at === undefined ? undefined : { type: 'review', verdict: 'approve', at, ...feedback(said) };
    case 'reject':
      return at === undefined || said === ''
        ? undefined
        : { type: 'review', verdict: 'revise', at, feedback: said };
    case 'answer':
      return said === '' ? undefined : { type: 'answer', text: said };
    case 'done': {
      const [open, other] = Object.values(state.cursors);
      if (!open || other) return undefined;
      const output = said === '' ? 'Done, as the user says.' : said;
      return { type: 'advance', at: `${suffixOf(run)}:${open.path}#${open.visit}`, output };
    }
    case 'cancel':
      return { type: 'cancel', ...(said === '' ? {} : { reason: said }) };
    default:
      return undefined;
  }
}

const feedback = (said: string): { feedback?: string } => (said === '' ? {} : { feedback: said });

/** The decision, and what the agent does next. */
async function goesOn({ context, session }: HookEvent, view: Loaded, name: string): Promise<string> {
  const command = { now: context.now(), session, type: 'status' } as const;
  const opened = (await context.engine.execute(view.run, command)).view ?? view;
  const { status } = positionOf(opened, context, { session });
  const next = nextForTools(status.action);
  const { instructions } = status;
  return instructions === undefined
    ? decidedText(name, next)
    : `${decidedText(name)}\n\n${handedOverText({ instructions, next })}`;
}

/** Shows the commands with a code first, since the file may have changed since the person read it. */
function trust({ resolve, trust: trusted }: LocalWorkspace, words: string, now: number): HookOutput {
  const [name = 'go', code] = words === '' ? [] : words.split(/\s+/);
  try {
    const { definition, hash } = resolve(name);
    const known = trusted.has(definition);
    const short = hash.replace(/^\w+:/, '').slice(0, 4);
    if (!known && code === short) trusted.give({ hash, workflow: definition.name, now, by: 'person' });
    const isTrusted = known || code === short;
    return { stop: trustText(name, commandsOf(definition), isTrusted ? undefined : short) };
  } catch (error) {
    return { stop: `Stepfast: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function hold({ context: { project, state, now } }: HookEvent, command: string): HookOutput {
  const holds = createHolds(project, state);
  if (command === 'off' || command === '') {
    holds.drop();
    return { stop: holdSetText(undefined) };
  }
  requireOwnFolders(project, ['sessions/marks']);
  holds.set(command, now());
  return { stop: holdSetText(command) };
}

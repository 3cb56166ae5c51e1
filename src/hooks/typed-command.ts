import { ended } from '../machine/index.ts';
import { alreadyOpenText, refusalText, shellVoice } from '../messages/index.ts';
import { type HookOutput, type Host, isRefused, onlyRequiredInput, type Refused } from '../runtime/index.ts';
import type { LocalWorkspace } from '../workspace/index.ts';
import { cancelCommand } from './cancel-command.ts';
import { deliver } from './deliver-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import { joinRun } from './join-run.ts';
import { decide, isDecision, trust } from './typed-decision.ts';

/** A command that a person types in the session: `/stepfast:go fix the login`. */
export interface TypedCommand {
  name: string;
  words: string;
}

export function typedCommand(
  { commands }: Pick<Host, 'commands'>,
  prompt: string | undefined,
): TypedCommand | undefined {
  const text = prompt?.trim() ?? '';
  const [opening] = commands.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const [, name, words = ''] = /^([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.slice(opening.length)) ?? [];
  return name === undefined ? undefined : { name, words: words.trim() };
}

/** The engine acts before the model sees the prompt. undefined: the model follows the skill of that name. */
export async function runTypedCommand(
  event: HookEvent,
  { name, words }: TypedCommand,
): Promise<HookOutput | undefined> {
  if (isDecision(name)) return await decide(event, name, words);
  if (name === 'resume') return await resume(event);
  if (name === 'keep') return await start(event, 'keep', words, 'goal');
  if (name === 'go' && words !== '') return await start(event, 'go', words, 'task');
  const [workflow = '', ...rest] = words.split(/\s+/);
  return name === 'start' && workflow !== '' ? await start(event, workflow, rest.join(' ')) : undefined;
}

async function start(event: HookEvent, workflow: string, words: string, input?: string): Promise<HookOutput> {
  const { context, key, session, host } = event;
  const binding = await context.bindings.get(key);
  const open = binding && (await context.engine.view(binding.run));
  if (open && !ended(open.state))
    return { stop: alreadyOpenText(open.state.summary ?? open.definition.name, cancelCommand(host)) };
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  const named = input ?? onlyInput(runtime.workspace, workflow);
  const { run = '', reply } = await runtime.start(
    {
      workflow,
      summary: words.split(/\s+/).slice(0, 10).join(' ') || undefined,
      inputs: named === undefined || words === '' ? {} : { [named]: words },
    },
    { session, host: host.name, witness: 'hooks' },
  );
  if (isRefused(reply)) {
    // The agent can ask for a missing input: the skill says how it starts the run then.
    if (reply.code === 'bad_input') return { say: refusedText(reply) };
    if (reply.code === 'untrusted') return trust(runtime.workspace, workflow, event);
    return { stop: refusedText(reply) };
  }
  return await bind(event, { run, at: reply.at, source: 'startup' });
}

/** The input that the words after the name of a workflow are for. */
function onlyInput({ resolve }: LocalWorkspace, workflow: string): string | undefined {
  try {
    return onlyRequiredInput(resolve(workflow).definition);
  } catch {
    // The start reports it.
    return undefined;
  }
}

/** Binds the session to the only live run. */
async function resume(event: HookEvent): Promise<HookOutput | undefined> {
  const runs = (await event.context.engine.runs()).filter(({ state }) => state && !ended(state));
  const [only, second] = runs;
  return only && !second ? await bind(event, { run: only.run, source: 'resume' }) : undefined;
}

/** From now on the session works on the run: it gets its briefing. */
export async function bind(
  event: HookEvent,
  { run, at, source }: { run: string; at?: string | undefined; source: 'startup' | 'resume' },
): Promise<HookOutput> {
  await joinRun(event, { run, at });
  const view = await event.context.engine.view(run);
  return view && !ended(view.state) ? await deliver(event, view, { at, source, why: 'typed' }) : {};
}

function refusedText(refused: Refused): string {
  const { message, next } = refusalText(refused, shellVoice());
  return `Stepfast: ${message} ${next}`;
}

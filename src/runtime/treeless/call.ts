import { checkingIn, type Engine } from '../../engine/index.ts';
import { type Command, type Definition, suffixOf } from '../../machine/index.ts';
import { type Answer, isRefused, type Refused } from '../answer.ts';
import type { CallOptions, Request, Wanted } from '../call.ts';
import type { Who } from '../call-context.ts';
import { cursorFor, onlyHeld } from '../find-cursor.ts';
import type { Memory } from '../memory/memory.ts';
import type { Moment } from './moment.ts';

interface Options {
  engine: Engine;
  moment: Moment;
  memory: Memory;
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
}

/** A look at the run, where nothing else says that it has moved. */
const pollMs = 5_000;

/** One command of one run. Gates are asked for, and wait for somebody who has the tree. */
export function createTreelessCall({ engine, moment, memory, which }: Options) {
  const { clock, caller, around } = moment;
  return call;

  async function call(asked: Request, who: Who, options: CallOptions): Promise<Answer> {
    const request = namesFile(asked) ? { ...asked, key: keyFor(asked.text) } : asked;
    const at = 'at' in request ? request.at : undefined;
    const found = await which({ at, run: options.run, changes: request.type !== 'status' });
    if (!('run' in found)) return { reply: found };
    const { run } = found;
    const missing = request.type === 'advance' ? await missingAt(run, at, who) : [];
    // The parts are those of exactly this request.
    const command = {
      ...request,
      ...caller(who),
      ...(missing.length > 0 ? { missing } : {}),
    } as Command;
    const executed = await engine.execute(run, command, options.key, around(who));
    const { due, changed } = executed;
    const reply: Answer['reply'] = executed.reply;
    if (isRefused(reply)) return { run, reply };
    const told = executed.interrupted ? { ...reply, interrupted: true as const } : reply;
    if (request.type === 'claim') return { run, reply: told, due, ...(await apart(run, reply.step)) };
    const own = request.type === 'status' && at === undefined ? onlyHeld(reply, who.session) : undefined;
    if (own !== undefined) return await call({ type: 'status', at: own }, who, { ...options, run });
    if (reply.checking) {
      const gates = await settle(run, reply.checking.id, clock() + (options.waitMs ?? 0));
      const next = reply.at === undefined ? {} : { at: reply.at };
      if (gates === 'done') return await call({ type: 'status', ...next }, who, { ...options, run });
      return { run, reply: told, due, ...(gates === 'running' ? {} : { warning: unstarted(run) }) };
    }
    const speaks = request.type === 'advance' || request.type === 'fail';
    const ignored = speaks && !changed && !reply.replayed && reply.status === 'waiting';
    return {
      run,
      reply: told,
      due,
      ...(ignored ? { ignored } : {}),
      ...(namesFile(asked) ? { warning: unread } : {}),
    };
  }

  async function missingAt(run: string, at: string | undefined, { session }: Who): Promise<string[]> {
    const view = await engine.view(run);
    return view ? await memory.missing(view, { cursor: cursorFor(view, { at, session }), worktree: '' }) : [];
  }

  async function settle(run: string, id: string, until: number): Promise<'done' | 'running' | 'waiting'> {
    for (;;) {
      const view = await engine.view(run);
      const checking = view && checkingIn(view.state, id);
      if (!checking) return 'done';
      if (clock() >= until) return checking.runner ? 'running' : 'waiting';
      await engine.watch(run, view.version.seq, Math.min(pollMs, until - clock()));
    }
  }

  /** Nobody makes a worktree here. */
  async function apart(run: string, step: string): Promise<{ warning?: string }> {
    const view = await engine.view(run);
    if (!view || !writesTogether(view.definition, step)) return {};
    return {
      warning: 'other agents work on other tasks now: work in a checkout and on a branch of your own',
    };
  }
}

const unstarted = (run: string): string =>
  `no tree is here: the gates wait until somebody runs, in a checkout that is logged in: stepfast status ${suffixOf(run)} --wait`;

/** A file is read as it is in a tree; here nobody can tell which content that was. */
const unread =
  'kept as your word: no file is readable here, and a gate that asks for it looks at what was noted in a checkout';

const namesFile = (request: Request): request is Extract<Request, { type: 'note' }> =>
  request.type === 'note' &&
  request.kind === 'reading' &&
  request.key === undefined &&
  !/\s/.test(request.text.trim());

const keyFor = (path: string): string => `file-${path.replaceAll(/[^\w.-]+/g, '-')}`.slice(0, 64);

function writesTogether({ steps, loops = {} }: Definition, id: string): boolean {
  const step = steps.find((each) => each.id === id);
  if ((step?.parallel ?? 1) < 2) return false;
  return !(loops[step?.loop ?? id] ?? []).every((sub) => sub.read_only);
}

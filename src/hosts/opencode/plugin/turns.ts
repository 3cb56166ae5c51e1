import type { HookOutput } from '../../../runtime/index.ts';
import type { Client } from './api.ts';
import { type PluginSession, rootOf } from './session.ts';
import type { Shim } from './shim.ts';

/** OpenCode itself has no bound. */
const maxHeld = 8;
const continueText = 'continue';
const toastMs = 15_000;

export interface Turns {
  idle(session: PluginSession): Promise<void>;
  /** Nothing starts another turn. */
  aborted(session: PluginSession): void;
  say(text: string | undefined): void;
  /** The plugin created this session in place of another. */
  tookOver(session: string): boolean;
}

interface TurnsOptions {
  client: Client;
  shim: Shim;
  inTui: boolean;
  baseOf(session: PluginSession): object;
  forget(session: PluginSession): void;
  /** The end of a turn was handled. */
  ended(session: PluginSession, turn: string, then: 'nothing' | 'continued' | 'reset'): void;
}

/** What happens at the end of a turn. */
export function createTurns({ client, shim, inTui, baseOf, forget, ended }: TurnsOptions): Turns {
  const successors = new Set<string>();

  const say = (text: string | undefined): void => {
    if (text === undefined) return;
    client.tui.showToast({ body: { message: text, variant: 'info', duration: toastMs } }).catch(() => {});
  };

  const prompt = async (session: PluginSession, text: string, continues?: string): Promise<void> => {
    session.own.push({ text, ...(continues === undefined ? {} : { continues }) });
    const body = { parts: [{ type: 'text', text }] };
    await client.session.promptAsync({ path: { id: session.id }, body }).catch(() => {});
  };

  /** A check that the stop did not wait for may end later. */
  const wait = (session: PluginSession, payload: object): void => {
    session.endWake?.();
    const { answer, end } = shim.wake(payload);
    session.endWake = end;
    answer.then(async ({ wake }) => {
      if (wake !== undefined && session.endWake === end && !session.turn) await prompt(session, wake);
    });
  };

  const reset = async (
    session: PluginSession,
    action: NonNullable<HookOutput['reset']>,
  ): Promise<boolean> => {
    if (action === 'compact') {
      if (!session.model) return false;
      const { data } = await client.session.summarize({ path: { id: session.id }, body: session.model });
      if (data !== true || session.turn) return false;
      await prompt(session, continueText);
      return true;
    }
    // Elsewhere nothing shows the person another session.
    if (!inTui) return false;
    const { data } = await client.session.create({ body: {} });
    if (!data) return false;
    await shim.fire('session_end', 'session.end', { ...baseOf(session), reason: 'clear' });
    forget(session);
    successors.add(data.id);
    await client.tui.publish({ body: { type: 'tui.session.select', properties: { sessionID: data.id } } });
    await client.session.promptAsync({
      path: { id: data.id },
      body: { parts: [{ type: 'text', text: continueText }] },
    });
    return true;
  };

  return {
    say,
    tookOver: (session) => successors.delete(session),
    aborted(session) {
      delete session.turn;
      rootOf(session).endWake?.();
      session.own = [];
    },
    async idle(session) {
      const { turn } = session;
      // The person stopped it, or nothing has happened since the last one: after an abort there are two.
      if (!turn || !session.busy) return;
      session.busy = false;
      const payload = {
        ...baseOf(session),
        stop_hook_active: turn.continues !== undefined,
        last_assistant_message: session.lastText,
      };
      delete session.turn;
      if (session.parent) return void (await shim.fire('subagent_stop', 'subagent.idle', payload));
      wait(session, payload);
      const output = await shim.fire('stop', 'session.idle', payload);
      // The person was faster.
      if (session.turn) return;
      if (output.block !== undefined && session.held < maxHeld) {
        session.held += 1;
        say(output.say);
        ended(session, turn.id, 'continued');
        return await prompt(session, output.block, turn.id);
      }
      const isReset = output.reset !== undefined && (await reset(session, output.reset).catch(() => false));
      if (!isReset) say(output.say);
      ended(session, turn.id, isReset ? 'reset' : 'nothing');
    },
  };
}

/** Turns of an agent that calls no Stepfast tool, as the hooks of Claude Code see them. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workflow } from './checked-workflow.ts';
import { createHookKit, type Fired, type HookKit } from './hooks.ts';

/** A session that works on a run of these steps, with the number 41 in `total.txt`. */
export interface CheckedRun {
  kit: HookKit;
  run: string;
  at: string;
  session: Turns;
}

export async function startChecked(
  steps: string,
  { stopCheckMs = 600_000, files = {} }: { stopCheckMs?: number; files?: Record<string, string> } = {},
): Promise<CheckedRun> {
  const all = { 'total.txt': '41\n', '.stepfast/workflows/w.yaml': workflow(steps), ...files };
  const kit = createHookKit(all, { stopCheckMs });
  kit.project.trust('w');
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  return { kit, run, at, session: openTurns(kit, 'a') };
}

export interface Turns {
  /** A prompt, what the agent does, and its last message. Returns the answer to the end of the turn. */
  turn(says: string, act?: () => unknown): Promise<Fired>;
  /** The turn continues with the reason why it was held. */
  goOn(says: string, act?: () => unknown): Promise<Fired>;
  /** A turn in which the agent only reads, while something else happens. */
  turnWhile(says: string, meanwhile: () => Promise<unknown>): Promise<Fired>;
  /** The hook that runs beside the end of a turn; if it exits with 2, its text starts a turn. */
  wakes(): Promise<string>;
}

export function openTurns(kit: HookKit, session: string): Turns {
  const transcript = join(dirname(kit.transcript), `${session}.jsonl`);
  let count = 0;
  let records = 0;
  const writeDown = (record: object): void => {
    mkdirSync(dirname(transcript), { recursive: true });
    appendFileSync(transcript, `${JSON.stringify(record)}\n`);
  };
  const wrote = (block: object): void =>
    writeDown({
      type: 'assistant',
      timestamp: new Date().toISOString(),
      message: { id: `m${records++}`, model: 'claude', content: [block] },
    });
  const fire = (event: string, more: object): Promise<Fired> =>
    kit.fire(event, {
      session_id: session,
      transcript_path: transcript,
      prompt_id: `${session}-${count}`,
      ...more,
    });
  const begin = async (): Promise<void> => {
    count += 1;
    writeDown({ type: 'user', promptId: `${session}-${count}`, message: { content: 'x' } });
    await fire('UserPromptSubmit', { prompt: 'x' });
  };
  const end = async (says: string, active: boolean): Promise<Fired> => {
    wrote({ type: 'text', text: says });
    const fired = await fire('Stop', { last_assistant_message: says, stop_hook_active: active });
    writeDown({ type: 'system', subtype: 'stop_hook_summary' });
    return fired;
  };
  const does = async (act: (() => unknown) | undefined): Promise<void> => {
    await act?.();
    if (act) wrote({ type: 'tool_use', id: 't', name: 'Edit', input: {} });
  };
  return {
    async turn(says, act) {
      await begin();
      await does(act);
      return await end(says, false);
    },
    async goOn(says, act) {
      await does(act);
      return await end(says, true);
    },
    async turnWhile(says, meanwhile) {
      await begin();
      await meanwhile();
      return await end(says, false);
    },
    async wakes() {
      const prompt_id = `${session}-${count}`;
      const payload = { session_id: session, transcript_path: transcript, prompt_id };
      const { stderr, exitCode } = await kit.wake('Stop', payload);
      return exitCode === 2 ? stderr : '';
    },
  };
}

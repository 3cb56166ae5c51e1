/** A host for the driver in this process. Its agent is a script of turns. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../../src/mcp/calls.ts';
import type {
  DrivenOptions,
  Host,
  HostDriver,
  LocalRuntime,
  TurnEnd,
  TurnFailure,
} from '../../src/runtime/index.ts';

/** What an agent does in one turn, or only says. A text that it returns is what it says last. */
export type Does = string | ((turn: ScriptedTurn) => unknown);

export interface SentPrompt {
  session: string;
  prompt: string;
  cwd: string;
  model: string | undefined;
  at: number;
}

type Fits = RegExp | ((sent: SentPrompt) => boolean);

export interface ScriptedTurn extends SentPrompt {
  env: DrivenOptions['env'];
  /** The last handle in the prompt or in an answer. */
  handle: string;
  write(file: string, text?: string): void;
  /** Resolves when the shell has ended, with what it printed. */
  shell(command: string): Promise<string>;
  /** Calls a tool of Stepfast and returns its answer, a refusal included. */
  tool(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>>;
  advance(output: string, more?: Record<string, unknown>): Promise<Record<string, unknown>>;
  spend(tokens: number, cost?: number): void;
  /** The turn ends with this failure. */
  fail(failure: TurnFailure): void;
  /** Until the driver interrupts the turn or ends the session. */
  hang(): Promise<never>;
  onEvent: DrivenOptions['onEvent'];
}

export interface ScriptedAgent {
  /** The next prompt that fits, of any session. */
  on(fits: Fits, does: Does, times?: number): void;
  /** All prompts that fit and have no other turn. */
  always(fits: Fits, does: Does): void;
  /** What the driver has sent, in order. */
  prompts: SentPrompt[];
  /** The sessions, in order. */
  sessions: { id: string; options: DrivenOptions; compactions: number }[];
  /** Whether compactions succeed. */
  compacts: boolean;
  /** Does nothing when it is interrupted. */
  isDeaf: boolean;
  /** Turns that no prompt has asked for. */
  left(): number;
}

interface Entry {
  fits: Fits;
  does: Does;
  times: number;
}

const handles = /(?<![\w-])[0-9a-z]{6,16}:[\w./-]+#\d+/g;
const lastHandle = (text: string): string | undefined => [...text.matchAll(handles)].at(-1)?.[0];

export const scriptedHost: Host = {
  name: 'scripted',
  capabilities: [],
  variables: { agent: [], internal: [] },
  limits: { contextCharacters: 10_000, toolHookMs: 5_000, stopHookMs: 5_000, stopCheckMs: 5_000 },
  compaction: 'none',
  commands: /^\/stepfast\s+/,
  parse: () => undefined,
  render: () => ({ stdout: '', exitCode: 0 }),
};

export function createScriptedHost({
  runtimeIn,
  clock,
}: {
  runtimeIn(cwd: string): LocalRuntime;
  clock(): number;
}): { agent: ScriptedAgent; driver: HostDriver } {
  const script: Entry[] = [];
  const agent: ScriptedAgent = {
    on: (fits, does, times = 1) => void script.push({ fits, does, times }),
    always: (fits, does) => void script.push({ fits, does, times: Number.POSITIVE_INFINITY }),
    prompts: [],
    sessions: [],
    compacts: true,
    isDeaf: false,
    left: () => script.filter(({ times }) => times > 0 && times < Number.POSITIVE_INFINITY).length,
  };

  function next(sent: SentPrompt): Does {
    const { prompt } = sent;
    const doesFit = (fits: Fits): boolean => (typeof fits === 'function' ? fits(sent) : fits.test(prompt));
    const fitting = script.filter(({ fits, times }) => times > 0 && doesFit(fits));
    const entry = fitting.find(({ times }) => times < Number.POSITIVE_INFINITY) ?? fitting[0];
    if (!entry) throw new Error(`The script has no turn for this prompt: ${prompt}`);
    entry.times -= 1;
    return entry.does;
  }

  const open: HostDriver['open'] = async (options) => {
    const { cwd, env, model, onEvent } = options;
    const id = randomUUID();
    const session = { id, options, compactions: 0 };
    agent.sessions.push(session);
    await options.onSession?.(id);
    const exited = Promise.withResolvers<void>();
    const children = new Set<ChildProcess>();
    let spent: TurnEnd['spent'] = { tokens: 0, cost: 0 };
    let stop: (end: Partial<TurnEnd>) => void = () => {};
    let isOver = false;

    const inTool = async <T>(name: string, detail: string, act: () => Promise<T>): Promise<T> => {
      const call = randomUUID();
      onEvent({ type: 'tool', id: call, name, open: true, detail });
      try {
        return await act();
      } finally {
        onEvent({ type: 'tool', id: call, name, open: false });
      }
    };

    const shell = async (command: string): Promise<string> =>
      await inTool('Shell', command, async () => {
        const child = spawn('sh', ['-c', command], {
          cwd,
          env: { ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        children.add(child);
        let printed = '';
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => {
            printed += text;
          });
        // Not 'close': what it leaves behind may hold its output open.
        await new Promise((resolve) => child.once('exit', resolve));
        children.delete(child);
        return printed;
      });

    const send = async (prompt: string): Promise<TurnEnd> => {
      const stopped = new Promise<Partial<TurnEnd>>((resolve) => {
        stop = resolve;
      });
      const sent: SentPrompt = { session: id, prompt, cwd, model, at: clock() };
      agent.prompts.push(sent);
      const turn: ScriptedTurn = {
        ...sent,
        env,
        handle: lastHandle(prompt) ?? '',
        write: (file, text = 'x') => writeFileSync(join(cwd, file), text),
        shell,
        tool: async (name, given) =>
          await inTool(name, '', async () => {
            const who = { session: id, host: scriptedHost.name, witness: 'driver' } as const;
            const answer = await callTool(name, given, runtimeIn(cwd), { who, options: {} });
            if (!('refused' in answer)) turn.handle = lastHandle(JSON.stringify(answer)) ?? turn.handle;
            return 'refused' in answer
              ? { ...answer.refused }
              : 'text' in answer
                ? answer
                : { ...answer.structured };
          }),
        advance: async (output, more) =>
          await turn.tool('workflow_advance', { at: turn.handle, output, ...more }),
        spend: (tokens, cost = 0) => {
          spent = { tokens: spent.tokens + tokens, cost: (spent.cost ?? 0) + cost };
        },
        fail: (failure) => {
          end.failure = failure;
        },
        hang: async () => await new Promise<never>(() => {}),
        onEvent,
      };
      const end: Partial<TurnEnd> = {};
      if (isOver) Object.assign(end, exit);
      else {
        const does = next(sent);
        const act = async (): Promise<Partial<TurnEnd>> => {
          const said = typeof does === 'string' ? does : await does(turn);
          return typeof said === 'string' ? { lastMessage: said } : {};
        };
        Object.assign(end, await Promise.race([stopped, act()]));
      }
      return { lastMessage: '', denials: [], ...end, spent };
    };

    return {
      session: id,
      pid: process.pid,
      send,
      compact: async () => {
        session.compactions += 1;
        return agent.compacts;
      },
      spent: async () => spent,
      interrupt: async () => {
        if (agent.isDeaf) return;
        for (const child of children) child.kill('SIGKILL');
        stop({ interrupted: true });
      },
      end: async () => {
        isOver = true;
        for (const child of children) child.kill('SIGKILL');
        stop(exit);
        exited.resolve();
      },
      exited: exited.promise,
    };
  };

  return {
    agent,
    driver: {
      reports: ['turns', 'tokens', 'minutes', 'cost'],
      find: async () => ({ name: scriptedHost.name, path: '', version: '0' }) as never,
      open,
    },
  };
}

const exit: Partial<TurnEnd> = { failure: { kind: 'exit', code: null, signal: 'SIGKILL', text: '' } };

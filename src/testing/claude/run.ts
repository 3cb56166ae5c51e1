import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestLog } from '../model/request-log.ts';
import type { Network } from './network.ts';
import { type SessionOptions, startClaude, type Turn } from './session.ts';
import type { StreamEvent } from './stream-event.ts';

export interface RunOptions extends Omit<SessionOptions, 'home'> {
  /** A home that is kept; by default a temporary one, removed with the run. */
  home?: string;
  prompts: readonly string[];
}

export interface ClaudeRun {
  network: Network;
  turns: Turn[];
  /** In order; `/clear` starts another. */
  sessions: string[];
  events: readonly StreamEvent[];
  /** The model's requests since the start of this run. */
  requests: RequestLog;
  /** The transcript of the last session. */
  transcript: string | undefined;
  exitCode: number | null;
  stderr: string;
  home: string;
  /** Removes a temporary home. */
  [Symbol.dispose](): void;
}

/** Starts the real host, sends the prompts one after the other, ends it. Throws if a prompt has no result. */
export async function runClaude({ prompts, ...options }: RunOptions): Promise<ClaudeRun> {
  const home = options.home ?? createHome();
  const remove = () => {
    if (options.home === undefined) removeHome(home);
  };
  const first = options.model.all().length + 1;
  const turns: Turn[] = [];
  try {
    const session = await startClaude({ ...options, home });
    try {
      for (const prompt of prompts) turns.push(await session.send(prompt));
    } finally {
      await session.close();
    }
    return {
      network: session.network,
      turns,
      sessions: [...new Set(turns.map((turn) => turn.session))],
      events: session.events(),
      requests: options.model.since(first),
      transcript: session.transcript(),
      exitCode: await session.close(),
      stderr: session.stderr(),
      home,
      [Symbol.dispose]: remove,
    };
  } catch (cause) {
    remove();
    throw cause;
  }
}

export function createHome(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-claude-')));
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

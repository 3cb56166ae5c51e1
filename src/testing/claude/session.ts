/** One process of the real host, prompts over stream-json: `/compact` and `/clear` are prompts like others. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { StepfastError } from '../../errors.ts';
import { type ClaudeOptions, claudeCommand, configOf } from './command.ts';
import type { Network } from './network.ts';
import { answers, type StreamEvent } from './stream-event.ts';

export interface SessionOptions extends ClaudeOptions {
  /** A session of the same home to resume. */
  resume?: string;
  /** Per prompt; 90 s by default. */
  timeoutMs?: number;
  /** A prompt ends with its result, even if subagents still run in the background. */
  leaveBackground?: boolean;
}

export interface Turn {
  prompt: string;
  /** The session after the prompt: `/clear` starts another. */
  session: string;
  result: string;
  isError: boolean;
  events: StreamEvent[];
  ms: number;
}

export interface ClaudeSession {
  network: Network;
  pid: number;
  events(): readonly StreamEvent[];
  stderr(): string;
  /** One at a time. Throws and ends the host if no result arrives in time. */
  send(prompt: string): Promise<Turn>;
  /** The transcript of the newest session, or of the given one; empty if there is none yet. */
  transcript(session?: string): string | undefined;
  /** Closes stdin and returns the exit status. Idempotent. */
  close(): Promise<number | null>;
  /** Kills it. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

export async function startClaude(options: SessionOptions): Promise<ClaudeSession> {
  const { timeoutMs = 220_000, resume, args = [] } = options;
  const stream = [
    ...['-p', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
    ...(resume === undefined ? [] : ['--resume', resume]),
  ];
  const command = await claudeCommand({ ...options, args: [...stream, ...args] });
  const host = spawn(command.program, command.args, {
    cwd: options.cwd,
    env: command.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // In its own process group, so that its hooks and servers can be ended with it.
    detached: true,
  });

  const events: StreamEvent[] = [];
  let stderr = '';
  let session = resume ?? '';
  let background = 0;
  let listener: ((event: StreamEvent) => void) | undefined;
  const read = (line: string): void => {
    const event: StreamEvent = JSON.parse(line);
    events.push(event);
    session = event.session_id ?? session;
    if (event.subtype === 'background_tasks_changed') background = event.tasks?.length ?? 0;
    listener?.(event);
  };
  const lines = createInterface({ input: host.stdout }).on('line', read);
  host.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  host.stdin.on('error', () => {});
  const readToTheEnd = new Promise((resolve) => lines.once('close', resolve));
  let spawnError: Error | undefined;
  const ended = new Promise<number | null>((resolve) => {
    host.once('error', (error) => {
      spawnError = error;
      resolve(null);
    });
    host.once('exit', (code) => resolve(code));
  });

  const failed = (what: string): StepfastError => {
    const tail = events.slice(-5).map((event) => JSON.stringify(event).slice(0, 300));
    const message = [`claude ${what}.`, stderr.trim(), 'The end of its stream:', ...tail].join('\n');
    return new StepfastError('host_failed', message, { cause: spawnError });
  };

  const endGroup = (signal: NodeJS.Signals): void => {
    try {
      if (host.pid !== undefined) process.kill(-host.pid, signal);
    } catch {
      // Already gone.
    }
  };

  const finish = async (graceMs: number): Promise<number | null> => {
    const late = setTimeout(() => endGroup('SIGKILL'), graceMs);
    const code = await ended;
    clearTimeout(late);
    endGroup('SIGKILL');
    if (!spawnError) await readToTheEnd;
    return code;
  };

  const send = async (prompt: string): Promise<Turn> => {
    if (listener)
      throw new StepfastError('busy', `'${prompt}' was sent before the last prompt had its result.`);
    const started = performance.now();
    const first = events.length;
    const uuid = randomUUID();
    let answer: StreamEvent | undefined;
    const over = new Promise<StreamEvent>((resolve) => {
      listener = (event) => {
        if (event.type !== 'result') return;
        if (answers(event, uuid)) answer = event;
        const idle = background === 0 && (event.queued_turn_count ?? 0) === 0;
        if (answer && (idle || options.leaveBackground)) resolve(answer);
      };
    });
    const message = { type: 'user', uuid, message: { role: 'user', content: prompt } };
    host.stdin.write(`${JSON.stringify(message)}\n`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'late');
    });
    const outcome = await Promise.race([over, late, ended.then(() => 'ended' as const)]);
    clearTimeout(timer);
    listener = undefined;
    if (outcome === 'late' || outcome === 'ended') {
      endGroup('SIGKILL');
      await ended;
      const why = outcome === 'late' ? `gave no result in ${timeoutMs} ms` : 'ended without a result';
      throw failed(`${why} to '${prompt}'`);
    }
    return {
      prompt,
      session,
      result: outcome.result ?? '',
      isError: outcome.is_error ?? false,
      events: events.slice(first),
      ms: performance.now() - started,
    };
  };

  return {
    network: command.network,
    pid: host.pid ?? 0,
    events: () => events,
    stderr: () => stderr,
    send,
    transcript: (wanted = session) => findTranscript(options.home, wanted),
    close: async () => {
      host.stdin.end();
      return await finish(timeoutMs);
    },
    kill: async (signal = 'SIGTERM') => {
      host.kill(signal);
      return await finish(60_000);
    },
  };
}

export function findTranscript(home: string, session: string): string | undefined {
  const projects = join(configOf(home), 'projects');
  if (!existsSync(projects)) return undefined;
  return readdirSync(projects)
    .map((name) => join(projects, name, `${session}.jsonl`))
    .find((file) => existsSync(file));
}

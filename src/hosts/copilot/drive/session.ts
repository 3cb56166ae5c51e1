import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, DrivenSession, TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { partIn } from '../../payload.ts';
import { type HostProcess, requireProgram, startHost } from '../../process.ts';
import { recordsOf } from '../../transcript-record.ts';
import { applied } from '../events-file.ts';
import { programName } from '../installed.ts';
import { transcriptOf } from '../parse-payload.ts';
import { spending } from '../spending.ts';
import { argumentsFor, environmentFor } from './command-line.ts';
import { createTurnReader } from './stream.ts';

const title = 'Copilot CLI';
const interruptWaitMs = 10_000;
const graceMs = 10_000;

/** A process is one turn, and the session is what its file says. */
export async function openSession(options: DrivenOptions): Promise<DrivenSession> {
  const { cwd, onEvent, resume } = options;
  const session = resume ?? randomUUID();
  const args = argumentsFor(options);
  const env = environmentFor(options.env);
  requireProgram({ program: programName, title, env });
  await options.onSession?.(session);
  const transcript = transcriptOf(session, { HOME: homedir(), ...env });
  const openedAt = Date.now();
  const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
  let host: HostProcess | undefined;
  let pid = process.pid;
  let [busy, over, interrupting] = [false, false, false];
  let exists = resume !== undefined;
  // Only this refuses a session that does not exist.
  const which = (): string[] => (exists ? [`--resume=${session}`] : ['--session-id', session]);

  const turn = async (prompt: string): Promise<{ end: TurnEnd; compacted: boolean }> => {
    if (busy) throw new StepfastError('busy', 'The last prompt has no result yet. Wait for it.');
    const reader = createTurnReader();
    if (over)
      return {
        compacted: false,
        end: await ended(reader, { kind: 'exit', code: null, signal: null, text: '' }),
      };
    [busy, interrupting] = [true, false];
    try {
      const before = (await compactions()).length;
      host = await startHost({
        program: programName,
        title,
        args: [`--prompt=${prompt}`, ...which(), ...args],
        env,
        cwd,
      });
      pid = host.pid;
      host.closeInput();
      host.onLine((line) => reader.read(line).forEach(onEvent));
      const { code, signal } = await host.finished;
      // What it left behind in its group.
      await host.end(0);
      reader.close().forEach(onEvent);
      exists = true;
      const made = (await compactions()).slice(before);
      for (const trigger of made) onEvent({ type: 'compacted', trigger });
      const text = host.stderr().trim().slice(-2_000);
      const died: TurnFailure | undefined = reader.ended ? undefined : { kind: 'exit', code, signal, text };
      if (died && !interrupting) close();
      return { compacted: made.includes('manual'), end: await ended(reader, died) };
    } finally {
      host = undefined;
      busy = false;
    }
  };

  const close = (): void => {
    over = true;
    exit();
  };

  const ended = async (
    reader: ReturnType<typeof createTurnReader>,
    died: TurnFailure | undefined,
  ): Promise<TurnEnd> => {
    const interrupted = interrupting && (reader.aborted || !reader.ended);
    const failure = interrupted ? undefined : (reader.failure ?? died);
    return {
      lastMessage: failure === undefined ? reader.lastMessage : '',
      spent: await spent(),
      denials: reader.denials,
      ...(interrupted ? { interrupted: true } : {}),
      ...(failure === undefined ? {} : { failure }),
    };
  };

  const spent = async (): Promise<TurnEnd['spent']> => ({
    tokens: (await spending(transcript, openedAt)).tokens,
  });

  /** The triggers of those that the host has applied, since the session began. */
  const compactions = async (): Promise<('manual' | 'auto')[]> => {
    const triggers: ('manual' | 'auto')[] = [];
    for await (const record of recordsOf(transcript))
      if (applied(record)) triggers.push(partIn(record, 'data')?.trigger === 'manual' ? 'manual' : 'auto');
    return triggers;
  };

  return {
    session,
    get pid() {
      return pid;
    },
    send: async (prompt) => (await turn(prompt)).end,
    // What a request has cost is written after the hooks of its tools have run.
    spent,
    compact: async (instructions = '') => {
      const { end, compacted } = await turn(`/compact ${instructions}`.trim());
      return compacted && end.failure === undefined;
    },
    interrupt: async () => {
      const running = host;
      if (!running) return;
      interrupting = true;
      try {
        process.kill(running.pid, 'SIGINT');
      } catch {
        // It has just ended.
      }
      const late = setTimeout(() => void running.end(0), interruptWaitMs);
      await running.finished;
      clearTimeout(late);
    },
    end: async (wait = graceMs) => {
      over = true;
      await host?.end(wait);
      close();
    },
    exited,
  };
}

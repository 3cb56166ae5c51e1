import { commandName } from '../command-name.ts';
import { withoutSecrets } from '../context/index.ts';
import {
  type AgentSession,
  asLine,
  nextForShell,
  printable,
  printableJson,
  printableLines,
  type RefusalText,
  refusalText,
  shellVoice,
  statusText,
  wrap,
} from '../messages/index.ts';
import {
  type Answer,
  type AnsweredStatus,
  type CallerIdentity,
  isRefused,
  type LocalRuntime,
  type Refused,
  type Request,
} from '../runtime/index.ts';
import { callerOf, isPerson, readerOf } from './caller.ts';
import { exit, usageError } from './exit.ts';
import { type Io, wrapWidth } from './io.ts';
import { paint } from './paint.ts';
import { runToName } from './run-name.ts';
import { openRuntime, type ProjectValues } from './run-options.ts';
import { findAgentSession } from './view/agent-session.ts';
import { proofLines, proofOf } from './view/evidence.ts';
import { createGateLogs } from './view/gate-log.ts';
import { nextFor } from './view/next.ts';
import { positionLines, waitingPhrase } from './view/position.ts';
import { symbolsFor } from './view/symbols.ts';
import { createGateWatch, Detached } from './watch-gates.ts';

export interface RunValues extends ProjectValues {
  run?: string | undefined;
  at?: string | undefined;
  wait?: string | undefined;
}

interface PerformOptions {
  runtime?: LocalRuntime;
  who?: CallerIdentity;
  /** The run that was found, if the caller named none. */
  run?: string | undefined;
}

const shortWaitMs = 45_000;
const wholeDayMs = 24 * 3_600_000;

/** Sends one request to a run, shows progress while gates run, and prints the answer. */
export async function perform(
  io: Io,
  values: RunValues,
  request: Request,
  { runtime = openRuntime(io, values), who = callerOf(io), run = values.run }: PerformOptions = {},
): Promise<number> {
  const answer = await watchedCall(io, { ...values, run }, request, { runtime, who });
  if (answer === 'detached') return await detached(io, { ...values, run }, runtime);
  const gated = request.type === 'advance' || request.type === 'review';
  if (request.type === 'advance' && request.at === undefined) {
    const mistaken = await takenForRepeat(answer, runtime);
    if (mistaken) return printRefusal(mistaken, io, values);
  }
  return await printAnswer(answer, io, values, runtime, gated);
}

/** For a person it waits until the gates end; for an agent as long as agents' tools allow. */
export async function watchedCall(
  io: Io,
  values: RunValues,
  request: Request,
  { runtime, who }: { runtime: LocalRuntime; who: CallerIdentity },
): Promise<Answer | 'detached'> {
  const watch = createGateWatch(io, { detach: true });
  const waitMs = waitOf(values.wait) ?? (isPerson(io) ? wholeDayMs : shortWaitMs);
  try {
    const options = { run: values.run, waitMs, onProgress: watch.onProgress };
    return await runtime.call(request, who, options);
  } catch (error) {
    if (error instanceof Detached) return 'detached';
    throw error;
  } finally {
    watch.end();
  }
}

/** Prints an answer and returns the exit status. Failed gates count only for a `gated` call. */
export async function printAnswer(
  { run, reply, worktree, warning, ignored, beaten, due, kept, view: left }: Answer,
  io: Io,
  values: RunValues,
  runtime: LocalRuntime,
  gated = false,
): Promise<number> {
  const name = run === undefined ? undefined : await runToName(runtime, run);
  if (isRefused(reply)) return printRefusal(reply, io, values, name, run);
  const code = ignored || beaten !== undefined ? exit.no : exitFor(reply, gated);
  const view = left ?? (run === undefined ? undefined : await runtime.engine.view(run));
  const proof = view && reply.status === 'complete' ? proofOf(view.definition, view.state) : undefined;
  if (values.json)
    return printJson(
      io,
      {
        ...shellStatus(reply, name),
        worktree,
        warning,
        ignored,
        beaten,
        kept,
        verified: proof && proof.length > 0,
        due: dueIds(due, reply),
      },
      code,
    );
  const agent = await findAgentSession(runtime, view?.state, io);
  if (ignored || beaten !== undefined)
    return printRefusal(notStored(reply, beaten, name, agent, io), io, values);
  const definition = view?.definition ?? { name: '', description: '', steps: [] };
  const symbols = symbolsFor(io);
  const lines = positionLines(reply, io, {
    definition,
    worker: !isPerson(io),
    brief: code === exit.no,
    run: name,
    agent,
    logOf: createGateLogs(runtime.project, reply),
    noNext: proof?.length === 0,
  });
  const [look, sign] = {
    [exit.no]: ['red', symbols.bad] as const,
    [exit.pending]: ['cyan', symbols.here] as const,
  }[reply.status === 'failed' ? exit.no : code] ?? ['green' as const, symbols.done];
  const again = reply.replayed ? '  (repeated call, nothing changed)' : '';
  const proven = proof && view ? proofLines(proof, view, runtime.project.worktree, io) : [];
  io.stdout.write(
    `${paint(io.stdout, look, sign)} ${paint(io.stdout, 'bold', printable(reply.run))}  ${reply.status}${again}\n${[...proven, ...lines].join('\n')}\n`,
  );
  if (worktree !== undefined) io.stdout.write(`\nWork in ${printable(worktree)}\n`);
  printDue(dueIds(due, reply), name, io);
  if (warning !== undefined)
    io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(warning)}\n`);
  return code;
}

/** Critical artifacts to load now; none before a pending context action, which would discard them. */
export const dueIds = (due: Answer['due'], { instructions }: AnsweredStatus): string[] | undefined =>
  due?.length && instructions !== undefined ? due.map(({ id }) => id) : undefined;

export function printDue(ids: readonly string[] | undefined, run: string | undefined, io: Io): void {
  if (!ids) return;
  const which = run === undefined ? '' : ` ${run}`;
  io.stdout.write(
    `\n${paint(io.stdout, 'dim', 'due'.padEnd(9))}${commandName()} prime${which} --artifacts ${ids.join(',')}\n`,
  );
}

function exitFor(
  { checking, failed_gates, unstable_files, interrupted }: AnsweredStatus,
  gated: boolean,
): number {
  if (checking) return exit.pending;
  return gated && (failed_gates?.length || unstable_files || interrupted) ? exit.no : exit.ok;
}

/** Prints a refusal as `no` and `next`. */
export function printRefusal(
  refusal: Refused | RefusalText,
  io: Io,
  values: { json?: boolean | undefined; run?: string | undefined },
  name?: string,
  run?: string,
): number {
  const text =
    'params' in refusal ? refusalText(refusal, shellVoice({ run: name, reader: readerOf(io) })) : refusal;
  const named = values.run !== undefined && refusal.code === 'no_run';
  const code = named || refusal.code === 'no_workflow' ? exit.notFound : exit.no;
  const refused = named ? { ...text, next: `List the runs: ${commandName()} runs --all` } : text;
  const { next } = refused;
  if (values.json) return printJson(io, { ...refused, run }, code);
  const label = (word: string, look: 'red' | 'dim', text: string): string =>
    printableLines(text)
      .flatMap((line) => wrap(line, wrapWidth(io.stderr) - 6))
      .map((line, index) => `${index === 0 ? paint(io.stderr, look, word.padEnd(6)) : '      '}${line}`)
      .join('\n');
  io.stderr.write(`${label('no', 'red', refused.message)}\n${label('next', 'dim', next)}\n`);
  for (const run of refused.runs ?? []) io.stderr.write(`      ${printable(run)}\n`);
  if (refused.instructions)
    io.stderr.write(`\n${printableLines(refused.instructions.trimEnd()).join('\n')}\n`);
  return code;
}

/** A status for `--json`: the data, with sentences for an agent in a shell. */
export const shellStatus = (reply: AnsweredStatus, run?: string): object =>
  statusText(reply, (action) => asLine(nextForShell(action, run)));

/** Redacts secrets. */
export const printJson = (io: Io, document: object, code: number): number =>
  printWholeJson(io, withoutSecrets(document), code);

/** Without redaction, for a document that is read back. */
export function printWholeJson(io: Io, document: object, code: number): number {
  io.stdout.write(`${printableJson(JSON.stringify(document, undefined, 2))}\n`);
  return code;
}

function notStored(
  reply: AnsweredStatus,
  beaten: string | undefined,
  run: string | undefined,
  agent: AgentSession | undefined,
  io: Io,
): RefusalText {
  const waits = reply.waiting ? waitingPhrase(reply.waiting) : 'waits';
  return {
    ...(beaten === undefined
      ? {
          code: 'waiting',
          message: `The output was not stored: ${isPerson(io) ? reply.step : (reply.at ?? reply.step)} ${waits}`,
        }
      : {
          code: 'beaten',
          message: `The output was not stored: another call had completed ${pathOf(beaten)}.`,
        }),
    next: asLine(nextFor(reply, io, run, agent)),
  };
}

/** The machine took the output for a repeat of the previous position's; the caller may not have meant that. */
async function takenForRepeat(
  { run, reply, view, beaten }: Answer,
  { engine }: LocalRuntime,
): Promise<RefusalText | undefined> {
  if (run === undefined || isRefused(reply) || !reply.replayed || beaten !== undefined) return undefined;
  if (reply.at === undefined || reply.status !== 'running' || reply.checking) return undefined;
  const { state } = view ?? (await engine.view(run)) ?? {};
  const last = state?.last?.kind === 'advance' ? state.outputs[state.last.key]?.at : undefined;
  if (last === undefined || last === reply.at) return undefined;
  return {
    code: 'repeated',
    message: `The same output was reported at ${pathOf(last)} within a minute, so this call was treated as a repeat.`,
    next: `To complete ${pathOf(reply.at)}: ${nextForShell(reply.action).commands[0]}`,
    at: reply.at,
  };
}

const pathOf = (at: string): string => at.slice(at.indexOf(':') + 1);

async function detached(io: Io, { run, at }: RunValues, runtime: LocalRuntime): Promise<number> {
  const found = await runtime.chooseRun({ run, at });
  const name = 'run' in found ? await runToName(runtime, found.run) : undefined;
  const which = name === undefined ? '' : ` --run ${name}`;
  io.stderr.write(`The gates keep running. To watch them again: ${commandName()} status --wait${which}\n`);
  return exit.pending;
}

/** `--wait <seconds>` in milliseconds. */
function waitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) throw usageError(`--wait takes seconds, not '${text}'.`);
  return Number(text) * 1000;
}

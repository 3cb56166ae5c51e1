import { commandName } from '../../command-name.ts';
import { redactQuickly } from '../../context/index.ts';
import { type Definition, type Receipt, type Status, type WaitingFor, workAt } from '../../machine/index.ts';
import {
  type AgentSession,
  baselineText,
  contextUsedText,
  nextForPerson,
  nextForShell,
  printable,
  printableLines,
  redUntilText,
  reviewDetails,
  waitingText,
  wrap,
} from '../../messages/index.ts';
import { type Io, wrapWidth } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { failedGateLines } from './evidence.ts';
import { symbolsFor } from './symbols.ts';

interface ViewOptions {
  definition: Definition;
  /** An agent, who also needs the handle and the instructions. */
  worker: boolean;
  /** Without the instructions. */
  brief?: boolean;
  /** The run's name in commands, where several runs are live. */
  run?: string | undefined;
  /** Undefined: an agent is at work. */
  agent?: AgentSession | undefined;
  /** How full the agent's context is, in percent, where it is nearly full. */
  contextUsed?: number | undefined;
  /** Without the next action. */
  noNext?: boolean;
  /** The file with a gate's full output. */
  logOf?: ((receipt: Receipt) => string | undefined) | undefined;
}

/** The position of a run and its next action: the answer to every call. */
export function positionLines(
  status: Status & { interrupted?: true },
  io: Io,
  options: ViewOptions,
): string[] {
  const symbols = symbolsFor(io);
  const lines: Span[][] = [];
  const labelled = (label: string, text: string, look?: 'yellow' | 'magenta' | 'red'): void => {
    for (const [index, part] of wrap(printable(text), wrapWidth(io.stdout) - 9).entries())
      lines.push([['dim', (index === 0 ? label : '').padEnd(9)], look === undefined ? part : [look, part]]);
  };
  const gateLines = (receipt: Receipt): Span[][] =>
    failedGateLines(options.definition, receipt, symbols, { at: status.at, log: options.logOf?.(receipt) });
  if (status.at !== undefined && options.worker)
    lines.push([
      ['dim', 'at'.padEnd(9)],
      ['bold', status.at],
    ]);
  const over = ['complete', 'failed', 'cancelled'].includes(status.status);
  if (!over) labelled('where', progressText(status, options.definition));
  if (status.agent !== null) labelled('agent', status.agent);
  if (options.contextUsed !== undefined) labelled('context', contextUsedText(options.contextUsed), 'yellow');
  if (status.reason !== undefined && status.reason !== status.status) labelled('why', status.reason, 'red');
  for (const { step, tail = '' } of (status.cleanup?.done ?? []).filter(({ pass }) => !pass)) {
    const last = redactQuickly(tail).trimEnd().split('\n').at(-1) ?? '';
    labelled('cleanup', `${step} failed${last === '' ? '' : `: ${last}`}`, 'red');
  }
  if (status.interrupted && !status.checking) labelled('gates', 'were interrupted: advance again', 'yellow');
  if (status.last_failure !== undefined) labelled('failed', status.last_failure, 'yellow');
  if (status.feedback !== undefined) labelled('feedback', status.feedback.replaceAll('**', ''), 'magenta');
  for (const { question, answer } of status.answers ?? []) labelled('answer', `${answer} (${question})`);
  for (const held of status.held ?? [])
    labelled(
      'held',
      [
        held.task,
        held.holder && `by ${held.holder}${held.owner === undefined ? '' : ` (${held.owner})`}`,
        held.waiting && `waits: ${held.waiting}`,
        options.worker && held.at,
      ]
        .filter(Boolean)
        .join('  '),
    );
  for (const { task, title, reason } of status.dropped ?? [])
    labelled('removed', `${task} (${title}): ${reason}`, 'yellow');
  if (status.baseline && !status.failed_gates) labelled('before', baselineText(status.baseline));
  for (const receipt of status.failed_gates ?? []) lines.push(...gateLines(receipt));
  if (status.red_until) labelled('until', redUntilText(status.red_until.length), 'yellow');
  for (const receipt of status.red_until ?? []) lines.push(...gateLines(receipt));
  if (status.unstable_files)
    labelled(
      'changed',
      `the gates keep changing ${status.unstable_files.join(', ')}: ignore them in git or name them in writes:`,
      'yellow',
    );
  if (status.waiting) labelled('waits', waitingFor(status.waiting), 'yellow');
  const rendered = lines.map((line) => renderLine(line, whole(io, line), symbols.more));
  return [
    ...rendered,
    ...(options.brief || !options.worker ? [] : instructionLines(status)),
    ...(options.noNext ? [] : nextLines(status, options, io)),
  ];
}

/** After a position's name: `waits for a person's review`. */
export function waitingPhrase(waiting: WaitingFor): string {
  if (waiting.for === 'review') return `waits ${waitingFor(waiting)}`;
  return waiting.for === 'question'
    ? `waits for an answer: ${waiting.question}`
    : `waits for a person's decision: ${waitingText(waiting)}`;
}

function waitingFor(waiting: WaitingFor): string {
  if (waiting.for !== 'review') return `${waiting.for}: ${waitingText(waiting)}`;
  return `for ${waiting.by === 'human' ? "a person's" : `${waiting.by}'s`} review${reviewDetails(waiting)}`;
}

/** A line with a handle or a path to copy is never cut. */
const whole = (io: Io, line: readonly Span[]): Io['stdout'] =>
  line.some((span) => typeof span !== 'string' && span[0] === 'bold')
    ? { ...io.stdout, columns: undefined }
    : io.stdout;

function progressText(status: Status, definition: Definition): string {
  const { phase, step, task, subStep, ralphIteration, ralphTotal } = status;
  const titled = definition.steps.some(({ id, title }) => id === step && title === phase.name);
  const parts = [`phase ${phase.current}/${phase.total} ${phase.name}${titled ? ` (${step})` : ''}`];
  if (task) parts.push(`task ${task.index + 1}/${task.total} ${task.id}: ${task.title}`);
  if (subStep !== undefined) {
    const { title } = workAt(definition, { step, task: task?.id ?? '', subStep });
    parts.push(title === undefined ? subStep : `${title} (${subStep})`);
  }
  if (ralphIteration !== undefined) parts.push(`iteration ${ralphIteration}/${ralphTotal}`);
  return parts.join(', ');
}

function instructionLines(status: Status): string[] {
  const text = status.contextAction
    ? status.message
    : status.waiting || status.checking
      ? undefined
      : status.instructions;
  if (text === undefined || text.trim() === '') return [];
  const lines = printableLines(redactQuickly(text.trimEnd())).map((line) => `  ${line}`.trimEnd());
  // Instructions may name MCP tools; an agent in a shell uses these instead.
  return ['', ...lines, '', `  Here: ${commandName()} ask, ${commandName()} note, ${commandName()} tasks.`];
}

function nextLines(status: Status, { run, worker, agent }: ViewOptions, io: Io): string[] {
  const { say, commands } = worker
    ? nextForShell(status.action, run)
    : nextForPerson(status.action, run, agent);
  const lines = wrap(printable(say), wrapWidth(io.stdout) - 9).map((part, index) =>
    renderLine([['bold', (index === 0 ? 'next' : '').padEnd(9)], part], io.stdout),
  );
  const shell = { ...io.stdout, columns: undefined };
  return [
    '',
    ...lines,
    ...commands.map((command) => renderLine(['         ', ['cyan', printable(command)]], shell)),
  ];
}

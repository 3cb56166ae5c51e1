import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { Progress } from '../../driver/index.ts';
import { lasting } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import type { Loaded } from '../../store/index.ts';
import { timeOf } from '../clock.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { symbolsFor } from '../view/symbols.ts';
import { createFollower } from './follow-run.ts';
import { createRunLines, placeOf, taskOf } from './run-lines.ts';

/** Shows a driven run: what the journal says as lines that stay, and below them what each agent does now. */
export interface RunScreen {
  show(progress: Progress): void;
  note(text: string): void;
  end(): Promise<void>;
}

export interface Head {
  branch: string | undefined;
  worktree: string;
  /** The first run of a project tells that there is a dashboard. */
  isFirst?: boolean;
}

/** The first lines: what runs, and where its work is. */
export function printHead({ definition, state }: Loaded, { branch, worktree, isFirst }: Head, io: Io): void {
  const lines: Span[][] = [
    [['bold', definition.name], ...(state.summary === undefined ? [] : [`  ${state.summary}`])],
    ...(branch === undefined ? [] : [[['dim', 'branch    '] as const, branch]]),
    [['dim', 'worktree  '], underHome(worktree, io)],
    ...(isFirst ? [[['dim', 'browser   '] as const, ['cyan', `${commandName()} ui`] as const]] : []),
    [],
  ];
  // Whole, so that they can be copied.
  const whole = { ...io.stdout, columns: undefined };
  for (const line of lines) io.stdout.write(`${renderLine(line, whole)}\n`);
}

const underHome = (path: string, { home }: Io): string =>
  path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

export interface ScreenOptions {
  /** Whether what agents do is written down, for `stepfast attach`. */
  records?: boolean;
  /** Shows the journal from here on. */
  from?: number;
}

const drawMs = 100;
const frames = { unicode: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'], ascii: ['-', '\\', '|', '/'] };
const merging = 'merge:';

/** Where a driver writes what its agents do, for `stepfast attach`. */
export const activityFile = (runtime: LocalRuntime, run: string): string =>
  join(runtime.project.directory, 'runs', run, 'activity.jsonl');

/** What one agent does at this moment. `at` is its position; absent of a merge. */
interface Doing {
  at?: string;
  text: string;
  since: number;
}

export function createRunScreen(
  runtime: LocalRuntime,
  run: string,
  io: Io,
  { records = true, from = 0 }: ScreenOptions = {},
): RunScreen {
  const isLive = io.stdout.columns !== undefined;
  const symbols = symbolsFor(io);
  const lines = createRunLines(symbols, { entries: !isLive });
  const now = new Map<string, Doing>();
  /** What was said about a worker and need not be said again. */
  const said = new Set<string>();
  let frame = 0;
  let drawn = 0;
  const follower = createFollower(runtime, run, { lines, print: printLine, from });
  const timer = isLive ? setInterval(draw, drawMs) : undefined;
  return {
    show(progress) {
      if (records) record(progress);
      if (progress.type === 'tool' || progress.type === 'said') said.delete(`${progress.worker} service`);
      const line = lineOf(progress);
      if (line && isNew(progress))
        printLine([['dim', `${timeOf(io.now())}  `], ...whoseLine(progress), ...line]);
      track(progress);
      if (isLive) draw();
    },
    note: (text) => printLine([['dim', `${timeOf(io.now())}  `], text]),
    async end() {
      clearInterval(timer);
      now.clear();
      erase();
      await follower.end();
    },
  };

  function record(progress: Progress): void {
    try {
      appendFileSync(activityFile(runtime, run), `${JSON.stringify({ ...progress, time: io.now() })}\n`, {
        mode: 0o600,
      });
    } catch {
      // Only for people who look on.
    }
  }

  /** An outage is told once, and each tool that is denied. */
  function isNew(progress: Progress): boolean {
    const key =
      progress.type === 'retry'
        ? `${progress.worker} service`
        : progress.type === 'denied'
          ? `denied ${progress.tool}`
          : undefined;
    if (key === undefined) return true;
    if (said.has(key)) return false;
    said.add(key);
    return true;
  }

  function track(progress: Progress): void {
    if (progress.type === 'merge') {
      const { task, state } = progress;
      if (state === 'merging') now.set(merging, { text: `${nameOf(task)}  merging`, since: io.now() });
      else now.delete(merging);
      return;
    }
    if (!('worker' in progress)) return;
    const text = doingOf(progress);
    if (text === undefined) return;
    const at = 'at' in progress ? progress.at : now.get(progress.worker)?.at;
    now.set(progress.worker, { text, since: io.now(), ...(at === undefined ? {} : { at }) });
  }

  /** Says which of several tasks a line is about. */
  function whoseLine(progress: Progress): Span[] {
    if (!('worker' in progress) || progress.worker === 'main') return [];
    return [['bold', nameOf(progress.worker)], '  '];
  }

  function nameOf(task: string): string {
    const view = follower.view();
    return view ? taskOf(view, task) : task;
  }

  function printLine(words: readonly Span[]): void {
    erase();
    io.stdout.write(`${renderLine(words, io.stdout, symbols.more)}\n`);
  }

  function draw(): void {
    erase();
    const view = follower.view();
    if (!view) return;
    const signs = io.unicode ? frames.unicode : frames.ascii;
    frame += 1;
    const shown = [...now].filter(([worker]) => isWorking(view, worker));
    const output = { ...io.stdout, columns: (io.stdout.columns ?? 80) - 1 };
    for (const [, { at, text, since }] of shown) {
      const time = lasting(Math.floor((io.now() - since) / 1000) * 1000).replace('.0', '');
      const words: Span[] = [
        ['cyan', `${signs[frame % signs.length]} `],
        ...(at === undefined ? [] : [['bold', placeOf(view, at)] as const, '  ']),
        ['dim', `${time}  `],
        text,
      ];
      io.stdout.write(`${renderLine(words, output, symbols.more)}\n`);
    }
    drawn = shown.length;
  }

  function erase(): void {
    if (drawn > 0) io.stdout.write(`\u001b[${drawn}A\u001b[J`);
    drawn = 0;
  }
}

/** A worker whose position is done, or waits for a person, does nothing. */
function isWorking({ state }: Loaded, worker: string): boolean {
  if (worker === merging) return true;
  return Object.values(state.cursors).some(
    ({ task, waiting }) =>
      (task ?? 'main') === worker && (!waiting || (waiting.kind === 'review' && waiting.by !== 'human')),
  );
}

/** Undefined: nothing new. */
function doingOf(progress: Progress): string | undefined {
  if (progress.type === 'turn') return 'thinking';
  if (progress.type === 'tool') return [toolName(progress.name), progress.detail ?? ''].join(' ').trimEnd();
  if (progress.type === 'said') return progress.text.trim().split('\n', 1)[0]?.slice(0, 200);
  if (progress.type === 'checking') return 'running gates';
  if (progress.type === 'retry')
    return `waiting for the model service${progress.until === undefined ? '' : ` until ${timeOf(progress.until)}`}`;
  return undefined;
}

/** `mcp__plugin_stepfast_stepfast__workflow_note` is `workflow_note`. */
const toolName = (name: string): string => name.replace(/^mcp__.*__/, '');

/** What the journal does not say. */
function lineOf(progress: Progress): Span[] | undefined {
  switch (progress.type) {
    case 'session': {
      const reason = sessionReasons[progress.why];
      return reason === undefined ? undefined : [['yellow', `new session: ${reason}`]];
    }
    case 'denied':
      return [
        ['yellow', `${toolName(progress.tool)} was denied, because nobody can be asked`],
        ['dim', '  allow it in .claude/settings.json, or in the agent of the workflow'],
      ];
    case 'interrupted':
      return [['yellow', `turn interrupted: ${interruptReasons[progress.why]}`]];
    case 'leftover':
      return [
        ['yellow', 'ended a process that a session left behind'],
        ['dim', `  ${progress.command}`],
      ];
    case 'retry':
      return [
        [
          'yellow',
          `the model service ${progress.status === undefined ? 'does not answer' : `answered ${progress.status}`}`,
        ],
        ['dim', progress.until === undefined ? '' : `  waiting until ${timeOf(progress.until)}`],
      ];
    case 'waits':
      return [['yellow', `waiting for you: ${progress.reason}`]];
    default:
      return undefined;
  }
}

/** The others are part of the workflow. */
const sessionReasons: Partial<Record<Extract<Progress, { type: 'session' }>['why'], string>> = {
  compact_failed: 'the context could not be compacted',
  no_progress: 'the last turns changed nothing',
  ended: 'the agent program ended',
};

const interruptReasons = {
  idle: 'nothing has happened for a long time',
  done: 'the position is done',
  budget: 'the budget is used up',
};

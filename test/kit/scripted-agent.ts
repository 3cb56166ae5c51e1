import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Status } from '../../src/machine/index.ts';
import type { TestFiles, TestProject } from '../../src/testing/index.ts';

/** The command as it is published. Gates start much faster in it than in its sources. */
export const builtCli = join(import.meta.dirname, '../../dist/cli.js');

/** The position that an agent is at, and the files that it works on. */
export interface Desk {
  status: Status;
  /** Counts the times at this position, from 1: a red gate leads to the next one. */
  attempt: number;
  write(files: TestFiles): void;
  read(file: string): string;
  git(...args: string[]): string;
  /** Runs `stepfast` as this agent. */
  run(...argv: string[]): Promise<Answer>;
}

/** Does the work and returns what is reported; undefined if it has answered for itself, with `run`. */
type Work = (desk: Desk) => string | undefined | Promise<string | undefined>;

export interface Script {
  workflow: string;
  /** More arguments of `start`. */
  start?: readonly string[];
  /** By step, or by `step/sub-step`. */
  work: Readonly<Record<string, Work>>;
  /** The command of the person that the run waits for; `approve` by default. */
  decide?(status: Status): readonly string[];
}

type Answer = Status & { worktree?: string; code?: string };

const mostTurns = 300;

/**
 * Plays a workflow as agents and a person do, through the command line: asks for the next action and performs it, until
 * none is left.
 */
export async function playScript(project: TestProject, script: Script): Promise<void> {
  const attempts = new Map<string, number>();
  const ask = async (session: string, argv: readonly string[], cwd = project.root): Promise<Answer> => {
    const env = { ...project.env, STEPFAST_SESSION: session };
    const { stdout, stderr } = await project.run([...argv, '--json'], { cwd, env, main: builtCli });
    if (stdout === '') throw new Error(`${argv.join(' ')}: ${stderr}`);
    // What the command line prints for this option.
    return JSON.parse(stdout) as Answer;
  };
  const answered = (answer: Answer): Answer => {
    if (answer.code === undefined) return answer;
    throw new Error(`refused: ${JSON.stringify(answer)}`);
  };
  await atTerminal(project, ['trust', script.workflow]);
  const begun = answered(await ask('main', ['start', script.workflow, ...(script.start ?? [])]));
  await follow('main', begun, project.root, () => true);

  async function follow(
    session: string,
    first: Answer,
    cwd: string,
    isOurs: (answer: Answer) => boolean,
  ): Promise<void> {
    let answer = first;
    for (let turn = 0; isOurs(answer); turn += 1) {
      if (turn > mostTurns) throw new Error(`it does not end: ${JSON.stringify(answer)}`);
      if (answer.action.do === 'nothing') return;
      const next = await perform(session, answer, cwd);
      answer = next ?? (await status(session, answer, cwd));
    }
  }

  async function perform(session: string, answer: Answer, cwd: string): Promise<Answer | undefined> {
    const { action } = answer;
    switch (action.do) {
      case 'work':
      case 'fix':
        return await work(session, answer, action.at, cwd);
      case 'claim': {
        const workers = Array.from({ length: action.limit }, (_, index) =>
          worker(`worker-${index + 1}`, answer),
        );
        await Promise.all(workers);
        return undefined;
      }
      case 'wait':
        if (action.for === 'gates' || action.for === 'preparation') return undefined;
        await atTerminal(project, script.decide?.(answer) ?? ['approve']);
        return undefined;
      case 'reset_context':
        // Nobody types it here: the next status goes on without it.
        return undefined;
      default:
        throw new Error(`unexpected: ${JSON.stringify(answer)}`);
    }
  }

  async function status(session: string, { action, run }: Answer, cwd: string): Promise<Answer> {
    const at = action.do === 'reset_context' ? ['--at', action.at] : [];
    return answered(await ask(session, ['status', '--wait', '--run', run, ...at], cwd));
  }

  async function work(session: string, answer: Answer, at: string, cwd: string): Promise<Answer | undefined> {
    const { step, subStep } = answer;
    const key = subStep === undefined ? step : `${step}/${subStep}`;
    const place = `${key} ${answer.task?.id ?? ''} ${answer.ralphIteration ?? ''}`;
    const attempt = (attempts.get(place) ?? 0) + 1;
    attempts.set(place, attempt);
    const does = script.work[key];
    if (!does) throw new Error(`the script has nothing for '${key}'`);
    const run = (...argv: string[]): Promise<Answer> => ask(session, argv, cwd);
    const output = await does({ status: answer, attempt, run, ...filesIn(cwd, project.env) });
    if (output === undefined) return undefined;
    return answered(await run('advance', '--at', at, '--output', output));
  }

  /** Takes tasks as long as there are some. */
  async function worker(session: string, { run }: Status): Promise<void> {
    for (;;) {
      const claimed = await ask(session, ['claim', '--as', session, '--run', run]);
      if (claimed.code !== undefined) return;
      const { task, worktree = project.root } = claimed;
      // Its worktree could not be set up, and the task was skipped.
      if (!task) continue;
      await follow(session, claimed, worktree, (answer) => answer.task?.id === task.id);
    }
  }
}

/** Runs a command as the person does, who confirms it. */
export async function atTerminal(project: TestProject, argv: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await project.run(argv, {
    main: builtCli,
    terminal: true,
    input: ['y'],
  });
  // 4: it is decided, and the engine runs the step that follows.
  if (code !== 0 && code !== 4) throw new Error(`${argv.join(' ')}: ${stdout}${stderr}`);
}

function filesIn(root: string, env: TestProject['env']): Pick<Desk, 'write' | 'read' | 'git'> {
  return {
    write: (files) => {
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), content);
      }
    },
    read: (file) => readFileSync(join(root, file), 'utf8'),
    git: (...args) => execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' }),
  };
}

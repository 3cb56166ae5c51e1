import { type Command, projectOptions, runOption } from './command.ts';

const group = 'Unattended';
const runArgument = 'Run id or its suffix; by default the only live run.';

export const drive: readonly Command[] = [
  {
    name: 'run',
    group,
    summary: 'Drive a workflow to its end without a person at the keyboard',
    usage: 'stepfast run <workflow> [--summary text] [--input name=value]... [--here]',
    about:
      'Opens sessions of your own agent program, gives each one its briefing, runs the gates at the end of every turn, performs context actions, and merges tasks that ran in parallel. The work happens in a worktree and on a branch of its own; your checkout is not touched. All state is stored: stopped or killed, the same command continues. Ctrl-C stops safely.',
    options: [
      ['-s, --summary <text>', 'One-line summary of the run'],
      ['-i, --input <name=value>', 'Value of an input; repeatable'],
      ['--run <run>', 'Continue this run'],
      ['--here', 'Work in this worktree and on its branch, and commit nothing'],
      ['--host <name>', 'Agent program (default: claude-code)'],
      ['--pr', 'When complete: push the branch and the run, and open a pull request with the report'],
      ['--no-wait', 'End with status 4 where only a person can continue'],
      ...projectOptions,
    ],
    examples: [
      'stepfast run upgrade --input package=vite',
      'stepfast run --run k3f9x2ab',
      'stepfast run feature -s "Dark mode" --no-wait',
    ],
    load: () => import('../drive/run.ts'),
  },
  {
    name: 'attach',
    group,
    summary: 'Watch a driven run from another terminal',
    usage: 'stepfast attach [<run>]',
    about: `Shows what the run does until it ends. It only reads: Ctrl-C leaves the run alone. ${runArgument}`,
    options: [runOption, ...projectOptions],
    examples: ['stepfast attach'],
    load: () => import('../drive/attach.ts'),
  },
  {
    name: 'pause',
    group,
    summary: 'Let the current turn end, and begin no new one',
    usage: 'stepfast pause [<run>]',
    about: `Stored in the run, so it also holds for a driver that is started later. ${runArgument}`,
    options: [runOption, ...projectOptions],
    examples: ['stepfast pause'],
    load: () => import('../drive/pause.ts'),
  },
  {
    name: 'unpause',
    group,
    summary: 'Let a paused run continue',
    usage: 'stepfast unpause [<run>]',
    about: `A driver that waits goes on by itself; otherwise start one with: stepfast run --run. ${runArgument}`,
    options: [runOption, ...projectOptions],
    examples: ['stepfast unpause'],
    load: () => import('../drive/unpause.ts'),
  },
  {
    name: 'merge',
    group,
    summary: 'Merge finished tasks of a parallel loop and check each on the merged tree',
    usage: 'stepfast merge [<run>] [--again task] [--accept]',
    about: `One round of the merge queue, for runs without a driver. A task is merged if the gates are green on the merged tree; otherwise it goes back to an agent. ${runArgument}`,
    options: [
      ['--again <task>', 'Try a parked task again; requires a person'],
      ['--accept', 'Accept that merged commits were taken off the branch; requires a person'],
      runOption,
      ...projectOptions,
    ],
    examples: ['stepfast merge', 'stepfast merge --again task-3'],
    load: () => import('../drive/merge.ts'),
  },
];

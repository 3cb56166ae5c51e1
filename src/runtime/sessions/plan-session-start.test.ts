import { describe, expect, test } from 'vitest';
import type { Binding } from './binding.ts';
import { type LiveRun, liveRuns, type Presence } from './live-runs.ts';
import { beginSession, type SessionStart } from './plan-session-start.ts';
import { concernsStop } from './stop-concerns-run.ts';

const now = 1_000_000_000;
const minute = 60_000;
const here = '{project_root}';
const run: LiveRun = {
  run: 'feature-20261114-k3f9x2ab',
  workflow: 'feature',
  status: 'running',
  step: 'build',
  updatedAt: now - minute,
  worktrees: [here],
  sessions: [],
  leases: [],
};
const other: LiveRun = { ...run, run: 'go-20261114-aaaaaaaa', workflow: 'go', updatedAt: now };
const start: SessionStart = {
  source: 'startup',
  host: 'h',
  session: 'new',
  worktree: here,
  cwd: here,
  pid: 20,
};
const bound: Binding = {
  host: 'h',
  session: 'old',
  run: run.run,
  cwd: here,
  pid: 10,
  boot: 'here',
  boundAt: now - 5 * minute,
  seenAt: now - minute,
};
const cleared: Binding = { ...bound, endedAt: now - 1000, cleared: true };
const presence: Presence = { now, boot: 'here', isAlive: () => true };
const dead: Presence = { ...presence, isAlive: () => false };
const own: Binding = { ...bound, session: 'new' };

const begin = (
  more: Partial<SessionStart>,
  bindings: Binding[] = [],
  runs: LiveRun[] = [run],
  at: Presence = presence,
) => beginSession({ ...start, ...more }, runs, bindings, at);

describe('a session that begins', () => {
  test('[P4/1] [U10] with one live run and no live holder is offered it, and is bound only by its first call', () => {
    const beginning = begin({});
    expect(beginning).toEqual({ kind: 'offer', run: run.run, drop: [] });
    expect(concernsStop({ host: 'h', session: 'new' }, beginning.binding, [run])).toBe(false);
    expect(concernsStop({ host: 'h', session: 'new' }, own, [run])).toBe(true);
  });

  test('[P4/1] a holder that ended, is dead, or was not seen for half an hour is no live holder', () => {
    const offer = { kind: 'offer', run: run.run };
    expect(begin({}, [{ ...bound, endedAt: now - 1 }])).toMatchObject(offer);
    expect(begin({}, [bound], [run], dead)).toMatchObject(offer);
    expect(begin({}, [{ ...bound, seenAt: now - 31 * minute }])).toMatchObject(offer);
    const expired = { ...run, leases: [{ holder: 'worker', expires: now - 1 }] };
    expect(begin({}, [], [expired])).toMatchObject(offer);
    // What is known of the process wins over a lease that has not run out.
    const leased = { ...run, leases: [{ holder: 'old', expires: now + minute }] };
    expect(begin({}, [bound], [leased], dead)).toMatchObject(offer);
  });

  test('[P4/2] with a run that is held elsewhere gets two lines', () => {
    expect(begin({}, [bound])).toEqual({ kind: 'two_lines', run: run.run, heldBy: 'old', drop: [] });
    expect(begin({}, [{ ...bound, seenAt: now - 29 * minute }])).toMatchObject({ kind: 'two_lines' });
    const leased = { ...run, leases: [{ holder: 'worker', expires: now + 1 }] };
    expect(begin({}, [], [leased])).toMatchObject({ kind: 'two_lines', heldBy: 'worker' });
    const { pid: _, ...unknown } = bound;
    expect(begin({}, [unknown], [run], dead)).toMatchObject({ kind: 'two_lines' });
    // A process id of another machine says nothing here.
    expect(begin({}, [{ ...bound, boot: 'there' }], [run], dead)).toMatchObject({ kind: 'two_lines' });
  });

  test('[P4/2] the subagents of a session do not hold a run against it', () => {
    const agent = { ...bound, session: 'new', agent: 'a1' };
    expect(begin({}, [agent])).toMatchObject({ kind: 'offer' });
    expect(begin({ session: 'third' }, [agent])).toMatchObject({ kind: 'two_lines', heldBy: 'new/a1' });
  });

  test('[P4/3] with several runs gets at most five, the last moved first, and no guess', () => {
    const many = Array.from({ length: 7 }, (_, index) => ({
      ...run,
      run: `r-${index}`,
      updatedAt: now + index,
    }));
    const beginning = begin({}, [], many);
    expect(beginning).toMatchObject({ kind: 'list', count: 7 });
    expect(beginning).not.toHaveProperty('binding');
    expect(beginning.kind === 'list' && beginning.runs.map((each) => each.run)).toEqual([
      'r-6',
      'r-5',
      'r-4',
      'r-3',
      'r-2',
    ]);
    expect(begin({}, [bound], [run, other])).toMatchObject({ kind: 'list' });
    expect(begin({}, [], [])).toEqual({ kind: 'nothing', drop: [] });
  });

  test('[P4/4] after a compaction a session keeps its binding, even when other sessions work on the run', () => {
    const beginning = begin({ source: 'compact' }, [bound, own], [run, other]);
    expect(beginning).toMatchObject({
      kind: 'brief',
      run: run.run,
      binding: { ...own, pid: 20, seenAt: now, boundAt: own.boundAt },
    });
    expect(beginning).not.toHaveProperty('inherits');
  });

  test('[P4/4] [M3] [U10] after a compaction an unbound session is offered the run again, and told of nothing else', () => {
    const compact = { source: 'compact' } as const;
    expect(begin(compact)).toEqual({ kind: 'offer', run: run.run, drop: [] });
    expect(begin(compact, [], [run, other])).toEqual({ kind: 'nothing', drop: [] });
    expect(begin(compact, [bound])).toEqual({ kind: 'nothing', drop: [] });
  });

  test('[U10] a run without activity for a week is not offered, and its own session is briefed on it', () => {
    const week = 7 * 24 * 60 * minute;
    const old = { ...run, updatedAt: now - week - 1 };
    expect(begin({}, [], [old])).toEqual({ kind: 'nothing', drop: [] });
    expect(begin({}, [], [old, other])).toMatchObject({ kind: 'offer', run: other.run });
    expect(begin({ source: 'resume' }, [own], [old])).toMatchObject({ kind: 'brief', run: old.run });
    expect(begin({}, [], [{ ...run, updatedAt: now - week }])).toMatchObject({ kind: 'offer' });
  });
});

describe('after a clear', () => {
  const clear = { source: 'clear' } as const;

  test('[P4/5] the next session of the same process inherits the run', () => {
    const beginning = begin({ ...clear, pid: 10, cwd: `${here}/sub` }, [cleared], [run, other]);
    expect(beginning).toMatchObject({
      kind: 'brief',
      run: run.run,
      binding: { session: 'new', run: run.run, pid: 10, seenAt: now, boundAt: now },
      inherits: cleared,
      drop: [{ host: 'h', session: 'old' }],
    });
    expect(beginning.binding).not.toHaveProperty('cleared');
    expect(beginning.binding).not.toHaveProperty('endedAt');
  });

  test('[P4/5] without a process to compare, the same directory and only one that waits has to do', () => {
    const { pid: _, ...unknown } = cleared;
    const runs = [run, other];
    expect(begin(clear, [unknown], runs)).toMatchObject({ kind: 'brief', inherits: unknown });
    expect(begin({ ...clear, cwd: `${here}/sub` }, [unknown], runs)).toMatchObject({ kind: 'list' });
    const second = { ...unknown, session: 'second', run: other.run };
    expect(begin(clear, [unknown, second], runs)).toMatchObject({ kind: 'list' });
    const away = { ...second, cwd: `${here}/../linked` };
    expect(begin(clear, [unknown, away], runs)).toMatchObject({ inherits: unknown });
  });

  test('[P4/5] a process id that no process has any more proves nothing; that of another one that lives does', () => {
    expect(begin(clear, [cleared], [run, other], dead)).toMatchObject({ inherits: cleared });
    expect(begin(clear, [cleared], [run, other])).not.toHaveProperty('inherits');
  });

  test('[P4/5] after 30 seconds, for another host, or where nothing was cleared, nothing is inherited', () => {
    const same = { ...clear, pid: 10 };
    const runs = [run, other];
    expect(begin(same, [{ ...cleared, endedAt: now - 30_000 }], runs)).toHaveProperty('inherits');
    expect(begin(same, [{ ...cleared, endedAt: now - 30_001 }], runs)).not.toHaveProperty('inherits');
    expect(begin({ ...same, host: 'x' }, [cleared], runs)).not.toHaveProperty('inherits');
    expect(begin({ ...same, source: 'startup' }, [cleared], runs)).not.toHaveProperty('inherits');
    const { cleared: _, ...ended } = cleared;
    expect(begin(same, [ended], runs)).not.toHaveProperty('inherits');
    expect(begin(same, [{ ...cleared, agent: 'a1' }], runs)).not.toHaveProperty('inherits');
  });

  test('[P4/5] a host that keeps the id of a cleared session keeps its binding', () => {
    const beginning = begin(clear, [{ ...cleared, session: 'new' }], [run, other]);
    expect(beginning).toMatchObject({ kind: 'brief', run: run.run });
    expect(beginning.binding).not.toHaveProperty('cleared');
  });
});

describe('bindings of sessions', () => {
  test('[P4/6] a resumed session is bound by its id', () => {
    const ended = { ...own, endedAt: now - 3 * minute };
    const beginning = begin({ source: 'resume' }, [ended, bound], [run, other]);
    expect(beginning).toMatchObject({ kind: 'brief', run: run.run, binding: { session: 'new' } });
    expect(beginning.binding).not.toHaveProperty('endedAt');
  });

  test('[P4/6] where its file is lost, the only run that knows the session tells it', () => {
    const known = { ...run, sessions: ['new'] };
    expect(begin({ source: 'resume' }, [], [known, other])).toMatchObject({
      kind: 'brief',
      run: run.run,
      binding: { run: run.run, session: 'new' },
    });
    const both = { ...other, sessions: ['new'] };
    expect(begin({ source: 'resume' }, [], [known, both])).toMatchObject({ kind: 'list' });
  });

  test('[P4/7] a fork and a new id are unbound, and told what anybody is told', () => {
    const fork = begin({ source: 'fork' }, [bound], [run]);
    expect(fork).toEqual({ kind: 'two_lines', run: run.run, heldBy: 'old', drop: [] });
    expect(begin({ source: 'fork' }, [], [{ ...run, sessions: ['new'] }])).not.toHaveProperty('binding');
    expect(begin({ source: 'fork' }, [own], [run, other])).toMatchObject({ kind: 'list' });
    expect(begin({ source: 'resume' }, [bound], [run])).not.toHaveProperty('binding');
  });

  test('[P4/8] a subagent has a key of its own, inherits nothing and is told nothing before it calls', () => {
    const agent = { id: 'a1', type: 'reviewer' };
    expect(begin({ agent }, [own])).toEqual({ kind: 'nothing', drop: [] });
    expect(begin({ agent }, [], [{ ...run, sessions: ['new'] }])).toEqual({ kind: 'nothing', drop: [] });
    expect(begin({ agent, source: 'clear', pid: 10 }, [cleared])).toEqual({ kind: 'nothing', drop: [] });
    const its = { ...own, agent: 'a1' };
    expect(begin({ agent }, [its])).toMatchObject({ kind: 'brief', binding: { agent: 'a1' } });
  });

  test("[P4/8] the host's own summariser, an agent without a type, is ignored", () => {
    const agent = { id: 'a1', type: '' };
    const its = { ...own, agent: 'a1' };
    expect(begin({ agent }, [its])).toEqual({ kind: 'nothing', drop: [] });
    const key = { host: 'h', session: 'new', agent: 'a1', agentType: '' };
    const leased = { ...run, leases: [{ holder: 'new/a1', expires: now }] };
    expect(concernsStop(key, its, [leased])).toBe(false);
  });

  test('[P4/8] a subagent is stopped by nothing but a task that it claimed', () => {
    const key = { host: 'h', session: 'new', agent: 'a1' };
    const its = { ...own, agent: 'a1' };
    expect(concernsStop(key, its, [run])).toBe(false);
    const leased = { ...run, leases: [{ holder: 'new/a1', expires: now }] };
    expect(concernsStop(key, its, [leased])).toBe(true);
    expect(concernsStop(key, its, [{ ...run, leases: [{ holder: 'new', expires: now }] }])).toBe(false);
  });

  test('[P4/9] a run of another worktree is not this session’s; one that goes on nowhere, or has it for a task, is', () => {
    const linked = { worktree: `${here}/../linked` };
    expect(begin(linked)).toEqual({ kind: 'nothing', drop: [] });
    expect(begin(linked, [], [run, { ...other, worktrees: ['{project_root}/../linked'] }])).toMatchObject({
      kind: 'offer',
      run: other.run,
    });
    expect(begin(linked, [], [{ ...run, worktrees: [] }])).toMatchObject({ kind: 'offer' });
    for (const place of ['.stepfast/worktrees', '../state/worktrees/project-1234abcd']) {
      const inner = place.startsWith('.s') ? 'task-2' : 'task/2';
      const task = { worktree: `${here}/${place}/${run.run}/${inner}` };
      expect(begin(task)).toMatchObject({ kind: 'offer', run: run.run });
    }
  });

  test('[P4/10] where no hooks tell of a session it holds nothing but its leases', () => {
    const state = { sessions: { tools: { startedAt: now, completed: [], resets: 0, worktree: here } } };
    const [seen] = liveRuns([{ run: run.run, state: { ...stateOf(run), ...state } }]);
    expect(seen).toMatchObject({ worktrees: [here], sessions: ['tools'], leases: [] });
    expect(begin({}, [], seen ? [seen] : [])).toMatchObject({ kind: 'offer', run: run.run });
  });

  test('[P4/11] a binding to a run that has ended is dropped, and binds no session', () => {
    expect(begin({ source: 'resume' }, [own], [])).toEqual({
      kind: 'nothing',
      drop: [{ host: 'h', session: 'new' }],
    });
    expect(begin({ source: 'clear', pid: 10 }, [cleared], [])).toMatchObject({ kind: 'nothing' });
    expect(concernsStop({ host: 'h', session: 'new' }, own, [])).toBe(false);
    const over = { run: run.run, state: { ...stateOf(run), status: 'complete' as const } };
    expect(liveRuns([over])).toEqual([]);
  });
});

describe('what is known of a run', () => {
  test('sessions whose place another took, and those that ended, no longer count', () => {
    const session = { startedAt: now, completed: [], resets: 0 };
    const lease = (holder: string) => ({
      ...{ path: 'b', step: 'b', visit: 1, enteredAt: now, failures: 0, reds: 0, checks: 0, stops: 0 },
      lease: { holder, epoch: 1, expires: now + minute },
    });
    const state = {
      ...stateOf(run),
      sessions: {
        old: { ...session, worktree: '{project_root}/../gone', endedAt: now },
        new: { ...session, worktree: here, from: 'old' },
      },
      cursors: { a: lease('old'), b: lease('new') },
    };
    expect(liveRuns([{ run: run.run, state }])).toMatchObject([
      { worktrees: [here], sessions: ['new'], leases: [{ holder: 'new' }] },
    ]);
  });
});

function stateOf({ run: id }: LiveRun) {
  return {
    version: 1 as const,
    run: id,
    workflow: 'feature',
    status: 'running' as const,
    createdAt: now,
    updatedAt: now,
    inputs: {},
    boundaries: 'prefer' as const,
    step: 'build',
    cursors: {},
    visits: {},
    tasks: {},
    outputs: {},
    budget: { turns: 0, tokens: 0, activeMs: 0, extra: {} },
    pivots: [],
    questions: [],
    notes: [],
    noteCount: 0,
    variables: {},
    artifacts: {},
    artefacts: [],
    reading: {},
    sessions: {},
    boundaryCount: 0,
    briefings: {},
  };
}

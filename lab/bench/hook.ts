/** Cost of hooks relative to Node's own startup: `npm run bench -- hook`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createGround, type Fired, type Ground, type Kind, kinds, shim } from './hook-ground.ts';

/**
 * How often each comes in a long session. A figure over all SessionStart or PostToolUse hooks is the median of what
 * was measured in these proportions: half of the hooks that a session waits for are quicker.
 */
const shares = {
  SessionStart: { startup: 1, resume: 1, clear: 1, compact: 7 },
  PostToolUse: { read: 40, bash: 20, writeKnown: 15, writeNew: 10, stepfast: 15 },
} as const;

interface Row {
  name: string;
  /** Measured once. */
  fire(round: number): number;
}

export async function bench({ rounds = roundsAsked() } = {}): Promise<object> {
  const made: Disposable[] = [];
  try {
    const idle = createIdle();
    made.push(idle);
    const node: Row = { name: 'node', fire: () => timed(process.execPath, ['-e', '0']) };
    const rows: Row[] = [{ name: 'idle', fire: () => idle.fire() }];
    for (const kind of kinds) {
      const [free, begun, worked] = [
        await createGround(kind),
        await createGround(kind),
        await createGround(kind),
      ];
      made.push(free, begun, worked);
      // Measured often, because it is the baseline.
      rows.push(node, ...starts(kind, free, begun), node, ...tools(kind, worked));
    }
    return figures(measured(rows, rounds), rounds);
  } finally {
    for (const each of made) each[Symbol.dispose]();
  }
}

function measured(rows: readonly Row[], rounds: number): Map<string, number[]> {
  const times = new Map<string, number[]>(rows.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const { name, fire } of rows) {
      const ms = fire(round);
      // The first round warms up caches.
      if (round > 0) times.get(name)?.push(ms);
    }
  return times;
}

/** The run of `free` has no session, so a new session is offered it. */
export function starts(kind: Kind, free: Ground, worked: Ground): Row[] {
  const start = (ground: Ground, source: string, session: string, round: number): number => {
    const payload = { session_id: session, source, prompt_id: `p${round}` };
    const fired = ground.fire('session_start', 'SessionStart', payload);
    return answered(fired, source === 'startup' ? ground.run : 'RUN', `${kind} ${source}`);
  };
  const end = (ground: Ground, session: string, reason: string): Fired =>
    ground.fire('session_end', 'SessionEnd', { session_id: session, reason });
  for (const session of ['compacted', 'resumed', 'cleared-0']) bind(worked, session);
  // An earlier session worked on it and ended.
  end(free, 'gone', 'other');
  return [
    { name: `${kind}.startup`, fire: (round) => start(free, 'startup', `new-${round}`, round) },
    {
      name: `${kind}.compact`,
      fire(round) {
        const about = { session_id: 'compacted', trigger: 'auto', prompt_id: `p${round}` };
        worked.fire('before_compact', 'PreCompact', about);
        return start(worked, 'compact', 'compacted', round);
      },
    },
    {
      name: `${kind}.resume`,
      fire(round) {
        end(worked, 'resumed', 'other');
        return start(worked, 'resume', 'resumed', round);
      },
    },
    {
      name: `${kind}.clear`,
      fire(round) {
        end(worked, `cleared-${round}`, 'clear');
        return start(worked, 'clear', `cleared-${round + 1}`, round);
      },
    },
  ];
}

export function tools(kind: Kind, ground: Ground): Row[] {
  const { root, run, at } = ground;
  const file = (name: string): object => ({ file_path: join(root, name) });
  const row = (name: string, mark: string, tool: string, input: (round: number) => object): Row => ({
    name: `${kind}.${name}`,
    fire(round) {
      const payload = { ...used(tool, `${name}-${round}`), tool_input: input(round) };
      const fired = ground.fire(`after_tool-${mark}`, 'PostToolUse', payload);
      return answered(fired, '', `${kind} ${name}`);
    },
  });
  bind(ground, 'a');
  const known = row('writeKnown', 'write', 'Write', () => file('src/known.ts'));
  known.fire(-1);
  return [
    row('read', 'read', 'Read', () => file('docs/other.md')),
    row('bash', 'shell', 'Bash', () => ({ command: 'ls' })),
    known,
    row('writeNew', 'write', 'Write', (round) => {
      const name = `src/part-${round}.ts`;
      writeFileSync(join(root, name), `export const part = ${round};\n`);
      return file(name);
    }),
    row('stepfast', 'stepfast', status, () => ({ at })),
  ];

  function used(tool: string, id: string): object {
    const response = tool === status ? { structuredContent: { run, at } } : {};
    return { session_id: 'a', tool_name: tool, tool_use_id: id, tool_response: response };
  }
}

const status = 'mcp__plugin_stepfast_stepfast__workflow_status';

/** A session begins, is briefed, and calls with the handle of its briefing, which binds it and proves that. */
function bind({ fire, run, at }: Ground, session: string): void {
  fire('session_start', 'SessionStart', { session_id: session, source: 'startup' });
  fire('after_tool-stepfast', 'PostToolUse', {
    session_id: session,
    tool_name: status,
    tool_use_id: 'first',
    tool_input: { at },
    tool_response: { structuredContent: { run, at } },
  });
}

/** Returns the measurement if the output is as expected. */
function answered({ ms, stdout }: Fired, what: string, name: string): number {
  const told = what === '' ? stdout === '' : stdout.includes('additionalContext') && stdout.includes(what);
  if (!told) throw new Error(`unexpected output of ${name}: ${stdout.slice(0, 300)}`);
  return ms;
}

/** A project without any run. */
function createIdle() {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-hook-'));
  const cwd = join(directory, 'packages', 'web');
  mkdirSync(cwd, { recursive: true });
  spawnSync('git', ['init', '-q', directory]);
  return {
    fire: () => timed('/bin/sh', [shim, 'after_tool-write', 'claude-code', 'PostToolUse'], cwd),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function timed(program: string, args: string[], cwd?: string): number {
  const env = { PATH: process.env.PATH, HOME: cwd ?? tmpdir() };
  const started = performance.now();
  const { status: code } = spawnSync(program, args, {
    env,
    input: '{}',
    ...(cwd === undefined ? {} : { cwd }),
  });
  if (code !== 0) throw new Error(`${program} exited with ${code}`);
  return performance.now() - started;
}

function figures(times: ReadonlyMap<string, number[]>, rounds: number): object {
  const base = median(weighed(times.get('node') ?? [], 1));
  const ratios: Record<string, number> = {};
  const print = (name: string, ms: number): number => {
    const ratio = Number((ms / base).toFixed(3));
    ratios[name] = ratio;
    console.log(`${name.padEnd(24)}${`${ms.toFixed(1)} ms`.padStart(9)}${`${ratio} ×`.padStart(9)}`);
    return ratio;
  };
  console.log(`${'hook'.padEnd(24)}${'p50'.padStart(9)}${'ratio'.padStart(9)}`);
  for (const [name, each] of times) print(name, median(weighed(each, 1)));
  for (const [event, of] of Object.entries(shares))
    console.log(
      `${event} of a session: ${Object.entries(of)
        .map(([name, share]) => `${share} ${name}`)
        .join(', ')}`,
    );
  const active = kinds.flatMap((kind) =>
    Object.entries(shares).map(([event, of]) => {
      const all = Object.entries(of).flatMap(([name, share]) =>
        weighed(times.get(`${kind}.${name}`) ?? [], share),
      );
      return print(`${kind}.${event}`, median(all));
    }),
  );
  return {
    rounds,
    nodeMs: Number(base.toFixed(1)),
    idleRatio: ratios.idle,
    activeRatio: Math.max(...active),
    shares,
    ratios,
  };
}

interface Weighed {
  ms: number;
  weight: number;
}

const weighed = (times: readonly number[], share: number): Weighed[] =>
  times.map((ms) => ({ ms, weight: share / times.length }));

function median(all: readonly Weighed[]): number {
  const half = all.reduce((total, { weight }) => total + weight, 0) / 2;
  let passed = 0;
  for (const { ms, weight } of all.toSorted((one, other) => one.ms - other.ms)) {
    passed += weight;
    if (passed > half) return ms;
  }
  return all.at(-1)?.ms ?? 0;
}

function roundsAsked(): number {
  const { values } = parseArgs({
    options: { rounds: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  return typeof values.rounds === 'string' ? Number(values.rounds) : 16;
}

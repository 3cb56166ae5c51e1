/** Cost of hooks relative to Node's own startup: `npm run bench -- hook [--rounds N]`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, printTable, rounded, takeTurns } from '../figures.ts';
import { options } from '../options.ts';
import {
  bareNode,
  createGround,
  createIdle,
  type Fired,
  type Ground,
  type Kind,
  kinds,
} from './hook-ground.ts';

type Acts = Record<string, (round: number) => number>;

const status = 'mcp__plugin_stepfast_stepfast__workflow_status';

export async function bench(): Promise<object> {
  const { rounds } = options({ rounds: 15 });
  using made = new DisposableStack();
  const idle = made.use(createIdle());
  const acts: Acts = { node: bareNode, idle: () => idle.fire() };
  for (const kind of kinds) {
    const [free, begun, worked] = [
      made.use(await createGround(kind)),
      made.use(await createGround(kind)),
      made.use(await createGround(kind)),
    ];
    Object.assign(acts, starts(kind, free, begun), tools(kind, worked));
  }
  const times = await takeTurns(rounds, acts);
  const nodeMs = median(times.node ?? []);
  const ratios = Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, rounded(median(all) / nodeMs, 3)]),
  );
  printTable([['hook', '× node'], ...Object.entries(ratios)]);
  // What a long session waits for most often: most of its starts come after a compaction.
  const frequent = Object.entries(ratios).filter(([name]) =>
    /\.(?:compact|read|bash|write|stepfast)/.test(name),
  );
  const activeRatio = Math.max(...frequent.map(([, ratio]) => ratio));
  return { rounds, nodeMs: rounded(nodeMs, 1), idleRatio: ratios.idle, activeRatio, ratios };
}

/** The run of `free` has no session, so a new session is offered it. */
export function starts(kind: Kind, free: Ground, worked: Ground): Acts {
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
  return {
    [`${kind}.startup`]: (round) => start(free, 'startup', `new-${round}`, round),
    [`${kind}.compact`](round) {
      const about = { session_id: 'compacted', trigger: 'auto', prompt_id: `p${round}` };
      worked.fire('before_compact', 'PreCompact', about);
      return start(worked, 'compact', 'compacted', round);
    },
    [`${kind}.resume`](round) {
      end(worked, 'resumed', 'other');
      return start(worked, 'resume', 'resumed', round);
    },
    [`${kind}.clear`](round) {
      end(worked, `cleared-${round}`, 'clear');
      return start(worked, 'clear', `cleared-${round + 1}`, round);
    },
  };
}

export function tools(kind: Kind, ground: Ground): Acts {
  const { root, run, at } = ground;
  const file = (name: string): object => ({ file_path: join(root, name) });
  const fire = (name: string, mark: string, tool: string, input: object, response = {}): number => {
    const payload = { session_id: 'a', tool_name: tool, tool_use_id: name, tool_response: response };
    const fired = ground.fire(`after_tool-${mark}`, 'PostToolUse', { ...payload, tool_input: input });
    return answered(fired, '', `${kind} ${name}`);
  };
  bind(ground, 'a');
  fire('known', 'write', 'Write', file('src/known.ts'));
  return {
    [`${kind}.read`]: (round) => fire(`read-${round}`, 'read', 'Read', file('docs/other.md')),
    [`${kind}.bash`]: (round) => fire(`bash-${round}`, 'shell', 'Bash', { command: 'ls' }),
    [`${kind}.writeKnown`]: (round) => fire(`known-${round}`, 'write', 'Write', file('src/known.ts')),
    [`${kind}.writeNew`](round) {
      const name = `src/part-${round}.ts`;
      writeFileSync(join(root, name), `export const part = ${round};\n`);
      return fire(`new-${round}`, 'write', 'Write', file(name));
    },
    [`${kind}.stepfast`]: (round) =>
      fire(`own-${round}`, 'stepfast', status, { at }, { structuredContent: { run, at } }),
  };
}

/** A session begins, is briefed, and calls with the handle of its briefing, which binds it and proves that. */
function bind({ fire, run, at }: Ground, session: string): void {
  fire('session_start', 'SessionStart', { session_id: session, source: 'startup' });
  const tool = { tool_name: status, tool_use_id: 'first', tool_input: { at } };
  const payload = { session_id: session, ...tool, tool_response: { structuredContent: { run, at } } };
  fire('after_tool-stepfast', 'PostToolUse', payload);
}

/** Returns the measurement if the output is as expected. */
function answered({ ms, stdout }: Fired, what: string, name: string): number {
  const told = what === '' ? stdout === '' : stdout.includes('additionalContext') && stdout.includes(what);
  if (!told) throw new Error(`unexpected output of ${name}: ${stdout.slice(0, 300)}`);
  return ms;
}

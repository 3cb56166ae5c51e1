/**
 * Records what each host sends to hooks in a real session: `node lab/record-payloads/run.ts [HOST…]` writes
 * `test/fixtures/payloads/HOST.json`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { forgetsAll, mainTurn, reply, summariser } from '../../src/testing/index.ts';
import { geminiHost } from '../../test/kit/gemini.ts';
import type { HostStage } from '../../test/kit/host-stage.ts';
import { sessionHosts } from '../../test/kit/session-hosts.ts';
import { aroundHook } from '../../test/kit/staged-hook.ts';
import { stepfastIn } from '../../test/kit/stepfast-in.ts';

const folder = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'payloads');

const workflow = `name: w
description: Works
required_reading: ["@docs/auth.md"]
agents:
  helper: { description: Helps, cannot: [Edit] }
steps:
  - { id: do, type: action, agent: helper, instructions: Do it. }
`;

interface Recorded {
  event: string;
  payload: Record<string, unknown>;
}

ensureBuilt();
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
for (const host of [...sessionHosts, geminiHost].filter(
  ({ name }) => wanted.length === 0 || wanted.includes(name),
)) {
  const all = await record(host);
  writeFileSync(join(folder, `${host.name}.json`), `${JSON.stringify(all, null, 2)}\n`);
  console.log(`${host.name}: ${all.map(({ event }) => event).join(' ')}`);
}

async function record(host: typeof geminiHost): Promise<Recorded[]> {
  const stage = await host.prepare({
    ...host.settings,
    '.stepfast/workflows/w.yaml': workflow,
    'docs/auth.md': '# Auth\n',
  });
  const { model, project } = stage;
  try {
    const installed = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
    if (installed.code !== 0) throw new Error(installed.stderr);
    const file = watch(stage);
    const { at } = await project.startRun('w');
    model.always(summariser(), forgetsAll());
    model.always(mainTurn(), reply.text('Yes.'));
    model.on(
      mainTurn(),
      host.own('workflow_status', { at }),
      host.read('docs/auth.md', project.root),
      host.write('made.ts', '1', project.root),
      host.shell('true'),
      reply.text('Done.'),
    );
    const session = await host.open(stage);
    await session.send('continue');
    await session.compact();
    await session.send('and now?');
    await session.end();
    return distinct(file, stage);
  } finally {
    await model[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  }
}

/** Keeps what each hook gets. */
function watch(stage: HostStage): string {
  const file = join(stage.env.HOME ?? '', 'payloads.jsonl');
  aroundHook(
    stage,
    `fs.appendFileSync(${JSON.stringify(file)}, JSON.stringify({ event, payload: input }) + '\\n'); return output;`,
  );
  return file;
}

/** One of each event and tool, without this machine's folders. */
function distinct(file: string, { project, env }: HostStage): Recorded[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const seen = new Set<string>();
  return lines.flatMap((line) => {
    const { event, payload } = JSON.parse(line);
    const plain = payload.replaceAll(project.root, '/project').replaceAll(env.HOME ?? '', '/home/person');
    const parsed: Record<string, unknown> = JSON.parse(plain);
    const key = [event, parsed.tool_name, parsed.toolName, parsed.source].join(' ');
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ event, payload: parsed }];
  });
}

/**
 * A service that keeps runs: `node examples/service.ts`. It starts itself as an HTTP server, starts a run, serves two
 * sessions that share its tasks, is killed and started again, and continues. Asserts its own results.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { defineWorkflow, refusalText, toolVoice } from '../src/index.ts';
import {
  type Answer,
  type CallRequest,
  createServiceRuntime,
  isRefused,
  openFileStore,
  type StartRequest,
} from '../src/runtime/library.ts';

const translate = defineWorkflow({
  name: 'translate',
  description: 'Translate a manual, one chapter per agent',
  loops: { chapters: [{ id: 'translate', instructions: 'Translate {task.title}.' }] },
  steps: [
    { id: 'chapters', type: 'loop', parallel: 2 },
    { id: 'proofread', type: 'action', instructions: 'Proofread the whole.', review: { by: 'human' } },
  ],
});

type Body =
  | { do: 'start'; session: string; request: StartRequest }
  | { do: 'call'; session: string; run: string; request: CallRequest; key?: string }
  | { do: 'briefing'; session: string; run: string }
  | { do: 'approve'; run: string; person: string };

// #region service
/** Serves the runs in a directory. All state is in the files, so it can end at any time. */
function serve(directory: string): void {
  const runtime = createServiceRuntime({ store: openFileStore({ directory }), workflows: [translate] });
  const shown = ({ run, reply }: Answer): unknown =>
    isRefused(reply) ? { refused: reply.code, ...refusalText(reply, toolVoice()) } : { run, status: reply };

  async function answer(body: Body): Promise<unknown> {
    if (body.do === 'start') return shown(await runtime.start(body.request, { session: body.session }));
    if (body.do === 'call') {
      const { run, request, session, key } = body;
      return shown(await runtime.call(run, request, { session }, { key }));
    }
    if (body.do === 'briefing') return await runtime.briefing(body.run, { session: body.session });
    // Authenticate people before: agents must not reach this.
    const actor = { kind: 'person' as const, name: body.person };
    const verdict = { type: 'review' as const, verdict: 'approve' as const, now: Date.now(), actor };
    return (await runtime.engine.execute(body.run, verdict)).reply;
  }

  const server = createServer(async (request, response) => {
    try {
      response.end(JSON.stringify(await answer((await json(request)) as Body)));
    } catch (error) {
      response.writeHead(500).end(JSON.stringify({ error: String(error) }));
    }
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}
// #endregion

/** The service in a process of its own. */
async function start(directory: string): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, [import.meta.filename, 'serve', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { child, port: String(port).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** What a client sees of the answers. */
interface Seen {
  run: string;
  status: { status: string; at: string; instructions: string; replayed?: true; waiting?: { for: string } };
  refused?: string;
  /** Of a briefing. */
  text: string;
}

export async function main() {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-service-'));
  const lines: string[] = [];
  let service = await start(directory);
  const send = async (body: Body): Promise<Seen> => {
    const response = await fetch(`http://127.0.0.1:${service.port}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return (await response.json()) as Seen;
  };
  try {
    const begun = await send({
      do: 'start',
      session: 'ann',
      request: { workflow: 'translate', summary: 'The manual' },
    });
    const { run } = begun;
    lines.push(`started ${run.split('-', 1)[0]}`);
    const call = (session: string, request: CallRequest, key?: string) =>
      send({ do: 'call', session, run, request, ...(key === undefined ? {} : { key }) });
    const tasks = [1, 2, 3].map((n) => ({ id: `c${n}`, title: `chapter ${n}` }));
    await call('ann', { type: 'setTasks', loop: 'chapters', tasks });

    // Two sessions, one task each.
    const held = new Map<string, string>();
    for (const session of ['ann', 'bob']) {
      const { status } = await call(session, { type: 'claim', holder: session });
      lines.push(`${session}: ${status.instructions}`);
      held.set(session, status.at);
    }
    const done = { type: 'advance' as const, output: 'Translated.', at: held.get('ann') ?? '' };
    await call('ann', done, 'ann-1');

    await kill(service.child);
    service = await start(directory);
    lines.push('restarted');

    // The answer was lost with the process, so the call is sent again: nothing is done twice.
    assert.equal((await call('ann', done, 'ann-1')).status.replayed, true);
    const briefing = await send({ do: 'briefing', session: 'bob', run });
    assert.match(briefing.text, /Translate chapter 2\./);
    await call('bob', { type: 'advance', output: 'Translated.', at: held.get('bob') ?? '' });
    const last = await call('bob', { type: 'claim', holder: 'bob' });
    lines.push(`bob: ${last.status.instructions}`);
    await call('bob', { type: 'advance', output: 'Translated.', at: last.status.at });

    const stale = await call('ann', { ...done, at: done.at.replace('c1', 'c9') });
    assert.equal(typeof stale.refused, 'string');
    const waiting = await call('ann', { type: 'advance', output: 'Proofread.' });
    assert.equal(waiting.status.waiting?.for, 'review');
    lines.push('waiting for a review');
    await send({ do: 'approve', run, person: 'Eve' });
    const end = await call('ann', { type: 'status' });
    assert.equal(end.status.status, 'complete');
    assert.deepEqual(lines, [
      'started translate',
      'ann: Translate chapter 1.',
      'bob: Translate chapter 2.',
      'restarted',
      'bob: Translate chapter 3.',
      'waiting for a review',
    ]);
    return lines;
  } finally {
    await kill(service.child);
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [command, directory = ''] = process.argv.slice(2);
  if (command === 'serve') serve(directory);
  else for (const line of [...(await main()), 'complete']) console.log(line);
}

/** A program that is no good host; what the real one does is in test/e2e/claude/drive.test.ts. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DrivenSession, HostEvent } from '../../../runtime/index.ts';
import { openSession } from './session.ts';

let folder: string;
let session: DrivenSession | undefined;
const events: HostEvent[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepfast-drive-'));
  events.length = 0;
});
afterEach(async () => {
  await session?.end(0);
  rmSync(folder, { recursive: true, force: true });
});

/** A host that does this with each line that it is sent; `say` prints a line of the stream, `uuid` is the prompt's. */
async function open(body: string): Promise<DrivenSession> {
  const script = `#!/usr/bin/env node
const say = (line) => console.log(JSON.stringify(line));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { uuid } = message;
  const done = (more) => say({ type: 'result', subtype: 'success', result: 'ok', user_message_uuid: uuid, ...more });
  ${body}
});`;
  writeFileSync(join(folder, 'claude'), script);
  chmodSync(join(folder, 'claude'), 0o755);
  const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
  session = await openSession({
    cwd: folder,
    env: { PATH },
    command: ['node'],
    onEvent: (event) => events.push(event),
  });
  return session;
}

const onUnix = test.skipIf(process.platform === 'win32');

onUnix('lines that are no part of the stream are only activity', async () => {
  const host = await open("console.log('npm warn'); console.log('{\"type\":'); console.log('[1]'); done();");
  expect(await host.send('go')).toEqual({ lastMessage: 'ok', spent: { tokens: 0, cost: 0 }, denials: [] });
  expect(events).toEqual(Array(4).fill({ type: 'activity' }));
});

onUnix('a result for another prompt does not end the turn', async () => {
  const host = await open("done({ user_message_uuid: 'other', result: 'no' }); done();");
  expect(await host.send('go')).toMatchObject({ lastMessage: 'ok' });
});

onUnix('a host that ends in the turn is a failure with what it printed', async () => {
  const host = await open("console.error('out of memory'); process.exitCode = 7; process.stdin.destroy();");
  const failure = { kind: 'exit', code: 7, signal: null, text: 'out of memory' };
  expect(await host.send('go')).toMatchObject({ failure });
  await host.exited;
  expect(await host.send('go')).toMatchObject({ failure });
  expect(await host.compact()).toBe(false);
  await host.interrupt();
});

onUnix('a host that closes its output cannot be driven, and is ended', async () => {
  const host = await open("require('node:fs').closeSync(1); setInterval(() => {}, 1000);");
  expect(await host.send('go')).toMatchObject({ failure: { kind: 'exit', signal: 'SIGKILL' } });
});

onUnix('a host that ignores the end of its input and SIGTERM is killed', async () => {
  const host = await open("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); done();");
  await host.send('go');
  await host.end(0);
  await host.exited;
  expect(() => process.kill(host.pid, 0)).toThrow();
});

onUnix("a person's rule that asks for Stepfast's own tools is answered, any other is refused", async () => {
  const ask = (tool: string) =>
    `say({ type: 'control_request', request_id: '${tool}', request: { subtype: 'can_use_tool', tool_name: '${tool}', input: { a: 1 }, tool_use_id: 'id-${tool}' } });`;
  const host = await open(`
    if (message.type === 'control_response') {
      (globalThis.answers ??= []).push(message.response.response);
      if (answers.length === 2) done({ user_message_uuid: prompt, result: JSON.stringify(answers) });
      return;
    }
    globalThis.prompt = uuid;
    ${ask('mcp__plugin_stepfast_stepfast__workflow_status')} ${ask('Bash')}`);
  const { lastMessage, denials } = await host.send('go');
  expect(JSON.parse(lastMessage)).toEqual([
    { behavior: 'allow', updatedInput: { a: 1 } },
    { behavior: 'deny', message: expect.any(String) },
  ]);
  expect(denials).toEqual(['Bash']);
});

onUnix('a second prompt in the turn is refused', async () => {
  const host = await open('');
  const turn = host.send('go');
  await expect(host.send('more')).rejects.toMatchObject({ code: 'busy' });
  await host.end(0);
  expect(await turn).toMatchObject({ failure: { kind: 'exit' } });
});

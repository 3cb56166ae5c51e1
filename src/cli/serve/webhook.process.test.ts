import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stage, setStage } from '../../../test/kit/server/jobs.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { run } from './webhook.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
  await stage.project('team');
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

async function webhook(...args: string[]): Promise<{ code: number; out: string }> {
  const { io, stdout } = createFakeIo({ env: { STEPFAST_DATABASE_URL: stage.url } });
  const code = await run([...args, '--project', 'team'], io);
  return { code, out: stdout() };
}

test('webhooks are added, listed, enabled and removed at the command line', async () => {
  const url = 'https://example.com/hook';
  const added = await webhook('add', url, '--events', 'run.*,approval.waiting', '--json');
  const { id, secret, events } = JSON.parse(added.out);
  expect(secret).toMatch(/^whsec_.{44}$/);
  expect(events).toEqual(['run.*', 'approval.waiting']);
  const listed = (await webhook('list')).out;
  expect(listed).toContain(id);
  expect(listed).toContain(url);
  expect(listed).not.toContain(secret);
  expect((await webhook('redeliver', id)).out).toContain('0 deliveries');
  expect((await webhook('remove', id)).out).toContain('removed');
  expect((await webhook('list')).out).not.toContain('wh_');
});

test('what cannot be reached safely, or is not there, is refused with the reason', async () => {
  await expect(webhook('add', 'http://example.com/')).rejects.toThrow('is not https');
  await expect(webhook('add', 'https://169.254.169.254/')).rejects.toThrow('not a public address');
  const allowed = await webhook('add', 'http://127.0.0.1:9/', '--allow-http', '--allow-private');
  expect(allowed.out).toContain('whsec_');
  await expect(webhook('remove', 'wh_none')).rejects.toMatchObject({ code: 'no_webhook' });
  await expect(webhook('remov', 'x')).rejects.toThrow("Did you mean 'remove'?");
  await expect(webhook('add')).rejects.toThrow('Missing webhook URL');
  const { io } = createFakeIo({ env: { STEPFAST_DATABASE_URL: stage.url } });
  await expect(run(['list', '--project', 'nobody'], io)).rejects.toThrow("'nobody'");
  await expect(run(['list', '--project', 'team'], createFakeIo().io)).rejects.toThrow(
    'STEPFAST_DATABASE_URL',
  );
});

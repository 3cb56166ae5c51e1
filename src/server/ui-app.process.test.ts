import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalPages } from '../runtime/index.ts';
import type { Scope } from '../schema/index.ts';
import { createTestProject } from '../testing/index.ts';
import { createOneTimeLinks, createUiApp } from './index.ts';

const origin = 'http://127.0.0.1:7438';
const files = {
  '.stepfast/workflows/w.yaml': `name: w
description: x
steps: [{ id: plan, type: action, instructions: Plan it., review: { by: human } }]
`,
};

let project: ReturnType<typeof createTestProject>;
beforeEach(() => {
  project = createTestProject(files);
});
afterEach(() => project[Symbol.dispose]());

function createApp(scopes: readonly Scope[] = ['read', 'write', 'decide']) {
  const runtime = project.runtime();
  const links = createOneTimeLinks();
  const errors: unknown[] = [];
  const app = createUiApp({
    pages: createLocalPages(runtime),
    engine: runtime.engine,
    principal: {
      id: 'local',
      project: { id: 0, name: 'shop' },
      kind: scopes.includes('decide') ? 'person' : 'agent',
      name: 'Ada',
      scopes,
    },
    links,
    hosts: { hosts: new Set(['127.0.0.1:7438']), origins: new Set([origin]) },
    asset: (path) =>
      path === '/'
        ? { body: new TextEncoder().encode('<html>'), type: 'text/html', isHashed: false }
        : undefined,
    origin: () => origin,
    clock: Date.now,
    onError: (error) => errors.push(error),
  });
  const fetch = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    app.fetch(new Request(`${origin}${path}`, { ...init, headers: { host: '127.0.0.1:7438', ...headers } }));
  const signIn = async (): Promise<Record<string, string>> => {
    const answer = await fetch(`/open?token=${links.create()}`);
    return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
  };
  return { app, runtime, links, fetch, signIn, errors };
}

async function waitingRun(runtime: ReturnType<typeof project.runtime>) {
  const { reply, run = '' } = await runtime.start({ workflow: 'w' }, { session: 's' });
  const at = 'at' in reply ? reply.at : undefined;
  await runtime.call({ type: 'advance', output: 'Planned', at }, { session: 's' }, { run });
  return { run, at };
}

const approval = (at: string | undefined): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({ command: { type: 'review', verdict: 'approve', at, actor: { kind: 'person' } } }),
});
const json = { 'content-type': 'application/json', origin };

test('a link lets one browser in, once; the cookie is strict and out of reach of scripts', async () => {
  const { links, fetch } = createApp();
  const token = links.create();
  const first = await fetch(`/open?token=${token}`);
  expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
  expect(first.headers.get('set-cookie')).toMatch(
    /^stepfast_7438=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect((await fetch(`/open?token=${token}`)).status).toBe(401);
  expect((await fetch('/open?token=')).status).toBe(401);
  expect((await fetch('/open')).status).toBe(401);
  const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  expect((await fetch('/', { cookie })).status).toBe(200);
  for (const other of ['', 'stepfast_7438=', `stepfast_7439=${cookie.split('=')[1]}`, `${cookie}x`])
    for (const path of ['/', '/v1/overview', '/v1/rows/events', '/runs/x'])
      expect((await fetch(path, { cookie: other })).status).toBe(401);
});

test('requests of other sites and under other names are refused', async () => {
  const { runtime, fetch, signIn } = createApp();
  const cookie = await signIn();
  const { run, at } = await waitingRun(runtime);
  const path = `/v1/runs/${run}/commands`;
  for (const host of ['evil.example', '127.0.0.1', '127.0.0.1:80', 'localhost.evil.example:7438', ''])
    expect((await fetch('/v1/overview', { ...cookie, host })).status).toBe(403);
  for (const from of ['https://evil.example', 'null', 'http://127.0.0.1:9999', 'http://localhost:7438'])
    expect((await fetch(path, { ...cookie, ...json, origin: from }, approval(at))).status).toBe(403);
  const { origin: _, ...without } = json;
  expect((await fetch(path, { ...cookie, ...without }, approval(at))).status).toBe(403);
  expect((await fetch(path, json, approval(at))).status).toBe(401);
  expect((await runtime.engine.view(run))?.state.status).toBe('waiting');
  expect((await fetch(path, { ...cookie, ...json }, approval(at))).status).toBe(200);
  expect((await runtime.engine.view(run))?.state).toMatchObject({
    status: 'complete',
    outputs: { plan: { reviewed: 'Ada' } },
  });
});

test('without a person the pages only read', async () => {
  const { runtime, fetch, signIn } = createApp(['read']);
  const cookie = await signIn();
  const { run, at } = await waitingRun(runtime);
  expect(await (await fetch('/v1/overview', cookie)).json()).toMatchObject({
    project: 'shop',
    me: { mayDecide: false },
    needs: [{ run, needs: 1 }],
  });
  const answer = await fetch(`/v1/runs/${run}/commands`, { ...cookie, ...json }, approval(at));
  expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'credential_required' }]);
});

test('every answer forbids scripts of others, and wrong input is no failure', async () => {
  const { fetch, signIn, errors } = createApp();
  const cookie = await signIn();
  const paths = [
    '/',
    '/v1/overview',
    '/v1/rows?limit=0',
    '/v1/rows?limit=-1',
    '/v1/rows?tone=x',
    '/v1/runs/x/page',
  ];
  for (const path of [...paths, '/v1/runs/..%2f..%2fetc/log?check=a&gate=0', '/v1/nothing', '/nothing.js']) {
    const answer = await fetch(path, cookie);
    expect(answer.status).toBeLessThan(500);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  }
  expect(errors).toEqual([]);
});

test('changes arrive as they happen, after a word that everything must be loaded anew', async () => {
  const { app, runtime, fetch, signIn } = createApp();
  const stream = await fetch('/v1/rows/events', await signIn());
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toMatch(/^retry: \d+\nevent: reset\n/);
  const { run } = await waitingRun(runtime);
  let text = '';
  while (!text.includes('"tone":"person"')) text += (await reader?.read())?.value ?? '';
  const rows = [...text.matchAll(/^event: row\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  expect(rows.at(-1)).toMatchObject({ run, need: { kind: 'review', what: 'Planned' } });
  await app.drain(0);
  expect((await reader?.read())?.done).toBe(true);
});

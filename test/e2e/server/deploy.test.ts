import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { options, variableOf } from '../../../src/cli/serve/serve-options.ts';
import { onPath } from '../../../src/on-path.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const deploy = join(root, 'deploy');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
/** In Debian's package `prometheus`. */
const promtool = onPath('promtool', process.env);
const systemdAnalyze = onPath('systemd-analyze', process.env);

const promtoolTest = promtool === undefined ? 'not run, promtool is missing: ' : '';
test.skipIf(promtool === undefined)(
  `${promtoolTest}S11: promtool accepts the alerts, and each fires when it should`,
  () => {
    const check = (...args: string[]): string =>
      execFileSync(promtool ?? '', args, { cwd: deploy, encoding: 'utf8' });
    expect(check('check', 'rules', 'alerts.yaml')).toContain('SUCCESS');
    expect(check('check', 'config', 'prometheus.yaml')).toContain('SUCCESS');
    expect(check('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
  },
);

test('S11: every alert has a test in which it fires', () => {
  const { groups } = parse(read('deploy/alerts.yaml')) as { groups: { rules: { alert: string }[] }[] };
  for (const { alert } of groups.flatMap((group) => group.rules))
    expect(read('deploy/alerts.test.yaml')).toContain(`alertname="${alert}"`);
});

const unitTest = systemdAnalyze === undefined ? 'not run, systemd-analyze is missing: ' : '';
test.skipIf(systemdAnalyze === undefined)(`${unitTest}S11: systemd accepts the unit`, () => {
  const { status, stderr } = spawnSync(systemdAnalyze ?? '', ['verify', join(deploy, 'stepfast.service')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stderr).not.toContain('stepfast.service:');
});

test('S11: what deploy/ and the Dockerfile set are options of serve', () => {
  const known = new Set(Object.keys(options).map(variableOf));
  for (const file of ['deploy/compose.yaml', 'deploy/stepfast.service', 'Dockerfile', 'docs/operations.md'])
    for (const [name] of read(file).matchAll(/STEPFAST_[A-Z_]+/g))
      expect(known, `${name} in ${file}`).toContain(name);
  const { services } = parse(read('deploy/compose.yaml'), { merge: true });
  expect(services.server).toMatchObject({
    image: 'stepfast',
    environment: { STEPFAST_METRICS_PORT: '9437' },
  });
  // Metrics are not published.
  expect(JSON.stringify(services.server.ports)).not.toContain('9437');
});

test('S11: the health check of the image honours the port', async () => {
  const [, command = ''] = /^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  let healthy = true;
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(healthy ? 200 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo;
  const status = (): Promise<number | null> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, STEPFAST_PORT: String(port) };
      spawn(process.execPath, args, { env, stdio: 'ignore' }).once('exit', resolve);
    });
  expect(await status()).toBe(0);
  expect(asked).toEqual(['/healthz']);
  healthy = false;
  expect(await status()).toBe(1);
  server.close();
});

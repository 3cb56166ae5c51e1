import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { serve } from '../commands/serve.ts';
import { options, type ServeSettings, settingsFrom, variableOf } from './serve-options.ts';

const directory = mkdtempSync(join(tmpdir(), 'stepfast-options-'));
const keys = join(directory, 'keys.json');
writeFileSync(keys, '{ "keys": [] }');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const url = 'postgres://stepfast@127.0.0.1/stepfast';
const publicUrl = new URL('https://stepfast.example.com');
const issued = { issuer: 'https://issuer.example', jwks: keys };
type Name = keyof typeof options;

/** A value of each option, what else it needs, and what it sets. */
const cases: Record<
  Name,
  { value: string | true; needs?: Partial<Record<Name, string>>; sets(settings: ServeSettings): unknown }
> = {
  'database-url': { value: 'postgres://other@127.0.0.1/other', sets: (it) => it.url },
  host: { value: '0.0.0.0', needs: { 'public-url': publicUrl.origin }, sets: (it) => it.host },
  port: { value: '8080', sets: (it) => it.port },
  'metrics-host': { value: '10.0.0.1', needs: { 'metrics-port': '9437' }, sets: (it) => it.metrics },
  'metrics-port': { value: '9437', sets: (it) => it.metrics },
  'public-url': { value: publicUrl.origin, sets: (it) => it.publicUrl?.origin },
  'allow-host': { value: 'a.example,b.example', sets: (it) => it.allowedHosts },
  'allow-origin': { value: 'https://a.example,https://b.example', sets: (it) => it.allowedOrigins },
  proxies: { value: '2', sets: (it) => it.proxies },
  issuer: { value: 'https://other.example', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.issuer },
  audience: { value: 'a,b', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.audience },
  jwks: { value: keys, needs: { issuer: issued.issuer }, sets: (it) => it.issuerFor(publicUrl)?.keys },
  'project-claim': { value: 'p', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.claims },
  'kind-claim': { value: 'k', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.claims },
  'client-id': { value: 'c', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.client?.id },
  'client-scope': {
    value: 'openid decide',
    needs: { ...issued, 'client-id': 'c' },
    sets: (it) => it.issuerFor(publicUrl)?.client?.scope,
  },
  'scope-claim': { value: 's', needs: issued, sets: (it) => it.issuerFor(publicUrl)?.claims },
  connections: { value: '7', sets: (it) => it.connections },
  rate: { value: '12', sets: (it) => it.perSecond },
  'project-runs': { value: '5', sets: (it) => it.quotas.runs },
  'project-workflows': { value: '5', sets: (it) => it.quotas.definitions },
  'project-megabytes': { value: '5', sets: (it) => it.quotas.bytes },
  'retention-months': { value: '6', sets: (it) => it.retentionMonths },
  'no-jobs': { value: true, sets: (it) => it.jobs },
  'webhooks-allow-http': { value: true, sets: (it) => it.webhookTargets.http },
  'webhooks-allow-private': { value: true, sets: (it) => it.webhookTargets.privateAddresses },
  'log-level': { value: 'warn', sets: (it) => it.logLevel },
  migrate: { value: true, sets: (it) => it.migrate },
};

const settings = (values: Record<string, unknown>, env: Record<string, string> = {}): ServeSettings =>
  settingsFrom(values, createFakeIo({ env: { STEPFAST_DATABASE_URL: url, ...env } }).io);

describe('S11: every option of serve', () => {
  test('has a case here and is described', () => {
    const described = serve.find(({ name }) => name === 'serve')?.options ?? [];
    const names = described.map(([flag]) => /^--([\w-]+)/.exec(flag)?.[1]);
    expect(names.toSorted()).toEqual(Object.keys(options).toSorted());
    expect(Object.keys(cases).toSorted()).toEqual(Object.keys(options).toSorted());
  });

  test.each(Object.keys(options) as Name[])('--%s is set by its environment variable as well', (name) => {
    const { value, needs = {}, sets } = cases[name];
    const inEnvironment = Object.fromEntries(
      Object.entries(needs).map(([other, text]) => [variableOf(other), text]),
    );
    const without = name === 'jwks' ? undefined : sets(settings(besides(needs, name)));
    const multiple = 'multiple' in options[name];
    const asOption = multiple && typeof value === 'string' ? value.split(',') : value;
    const fromOption = sets(settings({ ...needs, [name]: asOption }));
    const fromVariable = sets(settings({}, { ...inEnvironment, [variableOf(name)]: String(value) }));
    expect(fromVariable).toEqual(fromOption);
    expect(fromVariable).not.toEqual(without);
  });

  test('of the command line takes precedence over the environment', () => {
    expect(settings({ port: '1' }, { STEPFAST_PORT: '2' }).port).toBe(1);
    expect(settings({ 'allow-host': ['a'] }, { STEPFAST_ALLOW_HOST: 'b' }).allowedHosts).toEqual(['a']);
  });

  test('without a value is on or off in the environment, and nothing else', () => {
    for (const off of ['', '0', 'false', 'no'])
      expect(settings({}, { STEPFAST_NO_JOBS: off })).toMatchObject({ jobs: true });
    expect(() => settings({}, { STEPFAST_NO_JOBS: 'maybe' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});

/** What the option needs, without the option itself. */
function besides(needs: Partial<Record<Name, string>>, name: Name): Record<string, unknown> {
  return Object.fromEntries(Object.entries(needs).filter(([other]) => other !== name || name === 'issuer'));
}

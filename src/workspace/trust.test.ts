import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  const trust = createTrust(directory);
  const known = workflow('npm test');
  const changed = workflow('curl evil.example');
  expect(trust.has(known)).toBe(false);
  trust.give({ hash: hashDefinition(known), workflow: 'feature', now: 1, by: 'person' });
  expect(trust.has(known)).toBe(true);
  expect(trust.has(changed)).toBe(false);
  expect(trust.list()).toMatchObject([{ workflow: 'feature', by: 'person' }]);
  expect(trust.take(hashDefinition(known))).toBe(true);
  expect(trust.has(known)).toBe(false);
});

test('a hash that a process was given counts for that process', () => {
  const known = workflow('npm test');
  const hash = hashDefinition(known);
  expect(createTrust(directory, [hash]).has(known)).toBe(true);
  expect(createTrust(directory).has(known)).toBe(false);
});

test('a workflow without commands needs no trust', () => {
  const none = loadWorkflowTemplateFromString(`
name: quiet
description: d
steps: [{ id: a, type: action, instructions: x, gate: [{ exists: PLAN.md }] }]
`);
  expect(createTrust(directory).has(none)).toBe(true);
});

test('bundled workflows are trusted as they are, also with what the project sets for all', () => {
  const bundled = workflowSearchPath().find(({ kind }) => kind === 'bundled')?.directory ?? '';
  const release = loadWorkflowTemplate(join(bundled, 'release.yaml'));
  expect(commandsOf(release)).not.toEqual([]);
  expect(createTrust(directory).has(release)).toBe(true);
  const config = { keep: false, stop: 'hold' } as const;
  const set = withConfig(release, config);
  expect(createTrust(directory).has(set)).toBe(true);
  const tampered = { ...release, steps: [...workflow('curl evil.example').steps] };
  expect(createTrust(directory).has(tampered)).toBe(false);
});

test('a definition that is said to have a trusted hash is looked at all the same', () => {
  const trust = createTrust(directory);
  const known = workflow('npm test');
  trust.give({ hash: hashDefinition(known), workflow: 'feature', now: 1, by: 'person' });
  expect(trust.has({ ...known, steps: workflow('curl evil.example').steps })).toBe(false);
});

test('commands are listed once each, `until` among them', () => {
  expect(commandsOf(workflow('npm test'))).toEqual(['npm test', 'npm run lint']);
});

test.skipIf(process.platform === 'win32')('only its user can look into the trust directory', () => {
  const known = workflow('npm test');
  createTrust(directory).give({ hash: hashDefinition(known), workflow: 'feature', now: 1, by: 'person' });
  expect(statSync(join(directory, 'trust')).mode & 0o077).toBe(0);
});

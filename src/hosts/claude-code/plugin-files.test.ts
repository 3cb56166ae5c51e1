/** The plugin of Claude Code as files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const top = join(import.meta.dirname, '..', '..', '..');
const skills = [
  ...['answer', 'approve', 'budget', 'cancel', 'doctor', 'done', 'go', 'hold', 'keep', 'prime', 'reject'],
  ...['resume', 'review', 'start', 'status', 'trust'],
];

test('the manifest has the version of the package', () => {
  const version = (file: string): unknown => JSON.parse(readFileSync(join(top, file), 'utf8')).version;
  expect(version('.claude-plugin/plugin.json')).toBe(version('package.json'));
});

test('a clone of the repository configures no server', () => {
  expect(existsSync(join(top, '.mcp.json'))).toBe(false);
});

test('every skill of the plugin is known', () => {
  expect(readdirSync(join(top, 'skills')).sort()).toEqual(skills);
});

test.each(skills)('the skill %s follows the rules of Agent Skills', (name) => {
  const text = readFileSync(join(top, 'skills', name, 'SKILL.md'), 'utf8');
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  const { description, ...front } = parse(head);
  expect(front.name).toBe(name);
  expect(typeof (front['argument-hint'] ?? '')).toBe('string');
  expect(description.length).toBeGreaterThan(40);
  expect(description.length).toBeLessThan(200);
  expect(body.split('\n').length).toBeLessThan(100);
  expect(body).not.toMatch(/\b(MUST|NEVER|ALWAYS|IMPORTANT|CRITICAL)\b/);
});

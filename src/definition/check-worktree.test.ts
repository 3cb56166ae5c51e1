import { expect, test } from 'vitest';
import { compareGrants, grantsOf, hashGrants, needsTrust } from './grants.ts';
import { parseWorkflow } from './parse.ts';

const text = (worktree: string, parallel = 2): string => `name: w
description: d
worktree: ${worktree}
loops: { build: [{ id: write, instructions: Write. }] }
steps: [{ id: build, type: loop, parallel: ${parallel} }]
`;
const parsed = (worktree: string, parallel?: number) =>
  parseWorkflow(text(worktree, parallel), { file: 'w.yaml' });
const codes = (worktree: string, parallel?: number) =>
  parsed(worktree, parallel).diagnostics.map(({ severity, code }) => [severity, code]);

test('[L/worktree] setup and copy are in the definition', () => {
  const { definition, diagnostics } = parsed('{ setup: npm ci, copy: [.env.test, "config/*.local.json"] }');
  expect(diagnostics).toEqual([]);
  expect(definition?.worktree).toEqual({ setup: 'npm ci', copy: ['.env.test', 'config/*.local.json'] });
});

test('[L/worktree] an unknown key has a suggestion, and only texts are taken', () => {
  const { diagnostics } = parsed('{ setpu: npm ci }');
  expect(diagnostics).toMatchObject([
    { code: 'unknown_key', suggestion: expect.stringContaining("'setup'") },
  ]);
  expect(codes('{ setup: [npm, ci] }')).toMatchObject([['error', expect.anything()]]);
  expect(codes('{ copy: .env }')).toMatchObject([['error', expect.anything()]]);
  expect(codes('{ copy: [] }')).toMatchObject([['error', expect.anything()]]);
  expect(codes('{ inputs: go.sum }')).toMatchObject([['error', expect.anything()]]);
  expect(codes('{ inputs: [] }')).toMatchObject([['error', expect.anything()]]);
});

test.each([
  '/etc/passwd',
  '~/.ssh',
  'C:\\x',
  '../.env',
  'config/../../.env',
  '.',
  './',
  '.git/config',
  './.stepfast/runs',
  '{project_root}/.env',
])('[L/worktree] %s is no path that can be copied or looked at', (path) => {
  expect(codes(`{ inputs: [${JSON.stringify(path)}] }`)).toEqual([['error', 'bad_path']]);
  expect(codes(`{ copy: [${JSON.stringify(path)}] }`)).toEqual([['error', 'bad_path']]);
});

test('[L/worktree] the command and the copied paths are what a person trusts', () => {
  const grantsIn = (worktree: string) => {
    const { definition } = parsed(worktree);
    if (!definition) throw new Error('not valid');
    expect(needsTrust(definition)).toBe(true);
    return grantsOf(definition);
  };
  const before = grantsIn('{ setup: npm ci, copy: [.env], inputs: [tools] }');
  expect(before).toEqual([{ setup: 'npm ci' }, { copy: '.env' }]);
  const after = grantsIn('{ setup: npm ci, copy: [.env, .npmrc] }');
  expect(compareGrants(before, after)).toEqual({ added: [{ copy: '.npmrc' }], removed: [] });
  expect(hashGrants(grantsIn('{ setup: npm install, copy: [.env] }'))).not.toBe(hashGrants(before));
});

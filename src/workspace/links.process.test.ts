import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { containedFile } from './contained-file.ts';
import { requireOwnFolders } from './own-folders.ts';
import { findProject } from './project.ts';

const plain = `name: plain
description: Two steps
steps:
  - { id: plan, type: action, instructions: Plan. }
  - { id: build, type: action, instructions: Build. }
`;

let project: TestProject;
let outside: string;
beforeEach(() => {
  project = createTestProject({ '.stepfast/workflows/plain.yaml': plain });
  outside = join(project.root, '../outside');
  mkdirSync(outside);
});
afterEach(() => project[Symbol.dispose]());

test.each(['runs', 'sessions', 'worktrees'])(
  'no run begins where .stepfast/%s is a link out',
  async (name) => {
    symlinkSync(outside, join(project.root, '.stepfast', name));
    const { reply } = await project.runtime().start({ workflow: 'plain' }, {});
    expect(reply).toMatchObject({
      code: 'not_writable',
      params: { message: expect.stringContaining(`${name} is a link that leads out of the project`) },
    });
    expect(readdirSync(outside)).toEqual([]);
  },
);

test('no run begins where .stepfast itself is a link out, or one that leads nowhere', async () => {
  const own = join(project.root, '.stepfast');
  renameSync(own, join(outside, 'kept'));
  symlinkSync(join(outside, 'kept'), own);
  const begun = await project.runtime().start({ workflow: 'plain' }, {});
  expect(begun.reply).toMatchObject({ code: 'not_writable' });
  expect(existsSync(join(outside, 'kept/runs'))).toBe(false);
  rmSync(own);
  symlinkSync(join(outside, 'nowhere'), own);
  expect(() => requireOwnFolders(findProject(project.root))).toThrow('leads out of the project');
});

test('a run whose folder became a link out is not written on', async () => {
  const runtime = project.runtime();
  await runtime.start({ workflow: 'plain' }, {});
  const runs = join(project.root, '.stepfast/runs');
  renameSync(runs, join(outside, 'runs'));
  symlinkSync(join(outside, 'runs'), runs);
  const { reply } = await project.runtime().call({ type: 'advance', output: 'done' }, {});
  expect(reply).toMatchObject({ code: 'not_writable' });
  expect(
    (await project.runtime().call({ type: 'status' }, { actor: { kind: 'person' } })).reply,
  ).toMatchObject({
    step: 'plan',
  });
});

test('a link that stays inside the project is followed', async () => {
  mkdirSync(join(project.root, 'elsewhere'));
  symlinkSync(join(project.root, 'elsewhere'), join(project.root, '.stepfast/runs'));
  expect((await project.runtime().start({ workflow: 'plain' }, {})).reply).toMatchObject({ step: 'plan' });
});

test.each([
  '.git/config',
  'sub/.git/config',
  'sub/.GIT/config',
  'sub/.git./config',
  'sub/GIT~1/config',
  'sub/.g\u200cit/config',
  '.stepfast/config.yaml',
  'sub/.Stepfast/runs/x',
  'inner/config',
  '../x',
])('%s is no file to be written', (path) => {
  mkdirSync(join(project.root, 'sub/.git'), { recursive: true });
  symlinkSync(join(project.root, 'sub/.git'), join(project.root, 'inner'));
  expect(containedFile(project.root, path)).toBeUndefined();
});

test.each(['docs/.github/x.md', 'git/config', '.gitignore', 'a.git/x'])(
  '%s is a file like any other',
  (path) => {
    expect(containedFile(project.root, path)).toBe(join(project.root, path));
  },
);

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findWorkflow, type WorkflowDirectory, workflowSearchPath } from './find-workflow.ts';
import { listWorkflows } from './list-workflows.ts';
import { loadWorkflowFile } from './load-workflow.ts';

let root = '';
let searchPath: WorkflowDirectory[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepfast-find-'));
  searchPath = (['project', 'user', 'bundled'] as const).map((kind) => ({
    kind,
    directory: join(root, kind),
  }));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(kind: WorkflowDirectory['kind'], file: string, text: string): string {
  mkdirSync(join(root, kind), { recursive: true });
  writeFileSync(join(root, kind, file), text);
  return join(root, kind, file);
}
const workflow = (name: string) =>
  `name: ${name}\ndescription: About ${name}\nsteps: [{ id: a, type: action, instructions: Do }]\n`;

test('[M11] the search path is the repository, also with the folder of Lanes, the user and the package', () => {
  const found = workflowSearchPath({
    projectRoot: join(root, 'repo'),
    home: root,
    env: {},
    platform: 'linux',
  });
  expect(found.map(({ kind }) => kind)).toEqual(['project', 'project', 'user', 'bundled']);
  expect(found[0]?.directory).toBe(join(root, 'repo', '.stepfast', 'workflows'));
  expect(found[1]?.directory).toBe(join(root, 'repo', '.lanes', 'workflows'));
  expect(found[2]?.directory).toBe(join(root, '.config', 'stepfast', 'workflows'));
  expect(found[3]?.directory).toBe(join(import.meta.dirname, '..', '..', 'workflows'));
});

test("the user's directory follows XDG_CONFIG_HOME, and APPDATA on Windows", () => {
  const user = (env: Record<string, string>, platform: NodeJS.Platform) =>
    workflowSearchPath({ projectRoot: root, home: root, env, platform })[2]?.directory;
  expect(user({ XDG_CONFIG_HOME: join(root, 'xdg') }, 'linux')).toBe(
    join(root, 'xdg', 'stepfast', 'workflows'),
  );
  expect(user({}, 'darwin')).toBe(join(root, '.config', 'stepfast', 'workflows'));
  expect(user({ APPDATA: join(root, 'roaming') }, 'win32')).toBe(
    join(root, 'roaming', 'stepfast', 'workflows'),
  );
});

test('the first place that has a name wins', () => {
  write('bundled', 'go.yaml', workflow('go'));
  expect(findWorkflow('go', searchPath)?.from).toBe('bundled');
  const file = write('project', 'mine.yml', workflow('go'));
  expect(findWorkflow('go', searchPath)).toEqual({ file, from: 'project' });
  expect(findWorkflow('mine', searchPath)).toBeUndefined();
});

test('a file is found by its name key, however it is written, and else by its stem', () => {
  const quoted = write('user', 'a.yaml', workflow('"two words"'));
  const flow = write('user', 'b.yaml', '{ "id": "flow" }');
  const broken = write('user', 'c.yaml', 'name: [');
  expect(findWorkflow('two words', searchPath)?.file).toBe(quoted);
  expect(findWorkflow('flow', searchPath)?.file).toBe(flow);
  expect(findWorkflow('c', searchPath)?.file).toBe(broken);
});

test('a name with a separator or an ending is a path', () => {
  const file = write('user', 'a.yaml', workflow('a'));
  expect(findWorkflow(file, [])).toEqual({ file, from: 'file' });
  expect(findWorkflow('a.yaml', searchPath)).toBeUndefined();
  expect(findWorkflow(join(root, 'none.json'), searchPath)).toBeUndefined();
});

test('the list says where each comes from, what it hides and what is wrong with it', () => {
  const own = write('project', 'go.yaml', workflow('go'));
  const bad = write('project', 'bad.yaml', 'name: bad\nsteps: 3\n');
  const base = write('user', 'base.yaml', 'name: base\n');
  const hidden = write('bundled', 'go.yaml', workflow('go'));
  write('bundled', 'notes.txt', 'not a workflow');
  const listed = listWorkflows(searchPath);
  expect(listed.map(({ file }) => file)).toEqual([bad, own, base, hidden]);
  expect(listed[0]).toMatchObject({ name: 'bad', from: 'project' });
  expect(listed[0]?.diagnostics.map(({ code }) => code)).toContain('wrong_type');
  expect(listed[0]).not.toHaveProperty('hash');
  expect(listed[1]).toMatchObject({
    name: 'go',
    description: 'About go',
    shadows: [hidden],
    diagnostics: [],
  });
  expect(listed[2]).toMatchObject({ name: 'base', from: 'user', base: true, diagnostics: [] });
  expect(listed[3]).toMatchObject({ name: 'go', from: 'bundled', shadowedBy: own, shadows: [] });
});

test('places that do not exist hold nothing', () => {
  expect(listWorkflows(searchPath)).toEqual([]);
  expect(findWorkflow('go', searchPath)).toBeUndefined();
});

test('a file of the search path extends what comes after it, never what comes before', () => {
  const heir = (step: string) =>
    `name: go\ndescription: Heir\nextends: go\nsteps: [{ id: ${step}, type: action, instructions: Do }]\n`;
  const project = write('project', 'go.yaml', heir('p'));
  const user = write('user', 'go.yaml', heir('u'));
  write('bundled', 'go.yaml', workflow('go'));
  const steps = (file: string) => {
    const { definition, diagnostics } = loadWorkflowFile(file, { places: searchPath });
    expect(diagnostics).toEqual([]);
    return definition?.steps.map(({ id }) => id);
  };
  expect(steps(project)).toEqual(['a', 'u', 'p']);
  expect(steps(user)).toEqual(['a', 'u']);
});

test('extends by a path stays in the project, also through links, and names a workflow file', () => {
  const base = 'name: base\ndescription: Base\nsteps: [{ id: a, type: action, instructions: Do }]\n';
  const places: WorkflowDirectory[] = [
    { kind: 'project', directory: join(root, 'repo', '.stepfast', 'workflows') },
  ];
  mkdirSync(join(root, 'repo', '.stepfast', 'workflows'), { recursive: true });
  for (const file of ['repo/base.yaml', 'repo/base.txt', 'secret.yaml'])
    writeFileSync(join(root, file), base);
  symlinkSync(join(root, 'secret.yaml'), join(root, 'repo', 'link.yaml'));
  const codes = (path: string) => {
    const file = join(root, 'repo', '.stepfast', 'workflows', 'x.yaml');
    writeFileSync(file, `name: x\ndescription: y\nextends: ${path}\n`);
    return loadWorkflowFile(file, { places }).diagnostics.map(({ code }) => code);
  };
  expect(codes('../../base.yaml')).toEqual([]);
  for (const path of [
    '../../../secret.yaml',
    '../../link.yaml',
    '../../base.txt',
    join(root, 'repo', 'base.yaml'),
  ]) {
    expect(codes(path)).toEqual(['unknown_base']);
  }
});

test('a file that is not UTF-8 is refused', () => {
  const file = write('project', 'latin.yaml', '');
  writeFileSync(file, Buffer.from('name: x\ndescription: Gr\xf6\xdfe\n', 'latin1'));
  expect(loadWorkflowFile(file, { places: searchPath }).diagnostics).toMatchObject([{ code: 'encoding' }]);
});

test('a name that goes on in the next line is read whole', () => {
  write(
    'project',
    'two.yaml',
    'name: go\n  evil\ndescription: y\nsteps: [{ id: a, type: action, instructions: Do }]\n',
  );
  expect(findWorkflow('go', searchPath)).toBeUndefined();
});

test('a base may refer to what its heirs declare', () => {
  write('project', 'base.yaml', 'name: base\ndescription: y\nkey_reminders: ["{input.later}"]\n');
  const [listed] = listWorkflows(searchPath);
  expect(listed).toMatchObject({ name: 'base', base: true });
  expect(listed?.diagnostics.every(({ severity }) => severity === 'warning')).toBe(true);
});

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** A folder imports only folders before it. */
const folders = [
  'schema',
  'machine',
  'messages',
  'definition',
  'context',
  'evidence',
  'store',
  'engine',
  'workspace',
  'runtime',
  'hooks',
  'hosts',
  'driver',
  'mcp',
  'server',
  'jobs',
  'cli',
  'testing',
];
const surfaces = ['hooks', 'driver', 'mcp', 'server', 'jobs'];

function mayImport(from: string, to: string): boolean {
  if (from === 'hosts' && to === 'hooks') return false;
  if (surfaces.includes(from) && surfaces.includes(to)) return false;
  return folders.indexOf(to) < folders.indexOf(from);
}

type Rule = 'noRestrictedImports' | 'noImportCycles';

/** Planted imports by file, each with the rule that it breaks, if any. */
const planted = new Map<string, [statement: string, breaks: Rule | undefined][]>();

function plant(
  file: string,
  path: string,
  allowed: boolean,
  statement = `import { x } from '${path}';`,
): void {
  const list = planted.get(file) ?? [];
  planted.set(file, list);
  list.push([statement, allowed ? undefined : 'noRestrictedImports']);
}

const below = ['', 'sub/', 'sub/sub/'];

for (const from of folders.filter((each) => each !== 'machine'))
  for (const [depth, sub] of below.entries()) {
    // A folder of hosts/ is a host, with rules of its own.
    if (from === 'hosts' && depth > 0) continue;
    const up = '../'.repeat(depth + 1);
    const file = `src/${from}/${sub}planted.ts`;
    for (const to of folders.filter((each) => each !== from)) {
      plant(file, `${up}${to}/index.ts`, mayImport(from, to));
      plant(file, `${up}${to}/part.ts`, false);
      plant(file, `${up}${to}/deep/index.ts`, false);
    }
    plant(file, `${up}errors.ts`, from !== 'schema');
    plant(file, './neighbour.ts', true);
    plant(file, 'node:fs', from !== 'schema');
    plant(file, 'zod', true);
  }

for (const from of ['server', 'cli']) plant(`src/${from}/postgres.ts`, '../store/postgres/index.ts', true);

for (const [depth, sub] of below.entries()) {
  const up = '../'.repeat(depth + 1);
  const file = `src/machine/${sub}planted.ts`;
  for (const to of folders.filter((each) => each !== 'machine' && each !== 'schema'))
    plant(file, `${up}${to}/index.ts`, false);
  for (const path of [`${up}schema/part.ts`, `${up}suggest.ts`, 'zod', 'node:fs', 'node:crypto'])
    plant(file, path, false);
  plant(file, './neighbour.ts', true);
}
plant('src/machine/planted.ts', '../errors.ts', true);
// The machine sees types of schema/ only, so that nothing that bundles it carries zod.
plant('src/machine/planted.ts', '../schema/index.ts', false);
plant('src/machine/planted.ts', '', true, "import type { X } from '../schema/index.ts';");

for (const [depth, sub] of below.slice(0, 2).entries()) {
  const up = '../'.repeat(depth + 1);
  const file = `src/hosts/one/${sub}planted.ts`;
  for (const to of ['two/index.ts', 'two/parse.ts']) plant(file, `${up}${to}`, false);
  for (const to of folders.filter((each) => each !== 'hosts'))
    plant(file, `${up}../${to}/index.ts`, ['runtime', 'workspace'].includes(to));
  for (const to of ['runtime/part.ts', 'workspace/part.ts']) plant(file, `${up}../${to}`, false);
  plant(file, `${up}settings/index.ts`, true);
  plant(file, './neighbour.ts', true);
  plant(file, `${up}../errors.ts`, true);
}

plant('src/hosts/one/sub/planted.ts', '../other/part.ts', true);

const forms = (path: string): string[] => [
  `import type { X } from '${path}';`,
  `export { y } from '${path}';`,
  `export * from '${path}';`,
  `export const loaded = await import('${path}');`,
  `import '${path}';`,
];
for (const [index, statement] of forms('../cli/index.ts').entries())
  plant(`src/runtime/form-${index}.ts`, '', false, statement);

const cycle = (file: string, other: string, kind: 'type' | 'value', breaks: Rule | undefined): void => {
  const statements = {
    type: `import type { T } from './${other}.ts'; export type T2 = T; export type T3 = 1;`,
    value: `import { v } from './${other}.ts'; export const w = () => v;`,
  };
  planted.set(`src/engine/${file}.ts`, [[statements[kind], breaks]]);
};
for (const kind of ['type', 'value'] as const) {
  cycle(`${kind}-a`, `${kind}-b`, kind, 'noImportCycles');
  cycle(`${kind}-b`, `${kind}-a`, kind, 'noImportCycles');
  cycle(`${kind}-line`, `${kind}-a`, kind, undefined);
}

interface Report {
  diagnostics: { category: string; location: { path: string; start: { line: number } } }[];
}

describe('the linter holds the layout', () => {
  let tree: string;
  let report: Report;
  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), 'stepfast-layout-'));
    copyFileSync(join(root, 'biome.json'), join(tree, 'biome.json'));
    // The configuration asks for git's list of ignored files.
    writeFileSync(join(tree, '.gitignore'), 'dist\n');
    for (const [file, statements] of planted) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), statements.map(([statement]) => `${statement}\n`).join(''));
    }
    const biome = join(root, 'node_modules', '.bin', 'biome');
    const args = ['lint', '--reporter=json', '--max-diagnostics=none', `--config-path=${tree}`, 'src'];
    const { stdout, stderr } = spawnSync(biome, args, { cwd: tree, encoding: 'utf8', maxBuffer: 1e9 });
    if (stdout === '') throw new Error(stderr);
    report = JSON.parse(stdout);
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  test.each([...planted])('%s: every forbidden import is an error, no other one', (file, statements) => {
    const found = statements.map(([statement], index) => {
      const here = report.diagnostics.filter(
        ({ category, location }) =>
          /noRestrictedImports|noImportCycles/.test(category) &&
          location.path === file &&
          location.start.line === index + 1,
      );
      return [statement, ...here.map(({ category }) => category.split('/').at(-1))];
    });
    expect(found).toEqual(
      statements.map(([statement, breaks]) => (breaks === undefined ? [statement] : [statement, breaks])),
    );
  });
});

test('every folder of src is in the layout', () => {
  const found = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((each) => each.isDirectory());
  expect(folders).toEqual(expect.arrayContaining(found.map(({ name }) => name)));
});

test('no file has more than 400 lines', () => {
  const files = globSync('{src,test,scripts,lab}/**/*.ts', { cwd: root });
  const long = files.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 401);
  expect(files.length).toBeGreaterThan(500);
  expect(long).toEqual([]);
});

import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unexportedTypes } from '../kit/public-types.ts';

const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'dist');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.entries<{ types?: string; default?: string }>(exports).flatMap(
  ([name, { types, default: file }]) =>
    types && file
      ? [{ name: name.replace('.', 'stepfast'), types: join(root, types), file: join(root, file) }]
      : [],
);

/** The examples of the documentation in the declarations that are published. */
const examples = globSync('**/*.d.ts', { cwd: dist, exclude: ['zod/**'] }).flatMap((file) =>
  [...readFileSync(join(dist, file), 'utf8').matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms)].map(
    ([, code = '']) => code.replaceAll(/^ *\* ?/gm, ''),
  ),
);

test('[A16] every example of the documentation compiles against the built types', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-tsdoc-'));
  try {
    for (const [index, code] of examples.entries())
      writeFileSync(join(directory, `example-${index}.ts`), `${code}export {};\n`);
    mkdirSync(join(directory, 'node_modules'));
    for (const [name, target] of [
      ['stepfast', root],
      ['@types', join(root, 'node_modules', '@types')],
    ] as const)
      symlinkSync(target, join(directory, 'node_modules', name));
    const compilerOptions = {
      ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'] },
      ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    expect(spawnSync(tsc, ['-p', directory], { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test.each(entries.filter(({ name }) => name !== 'stepfast/testing'))(
  '[A16] every function and class of $name is used by an example',
  async ({ name, file }) => {
    const imported = examples.flatMap((code) =>
      [...code.matchAll(/^import \{([^}]+)\} from '([^']+)'/gm)].flatMap(([, names = '', from]) =>
        from === name ? names.split(',').map((each) => each.trim()) : [],
      ),
    );
    const values = Object.keys(await import(file));
    expect(values.length).toBeGreaterThan(3);
    expect(values.filter((each) => !imported.includes(each))).toEqual([]);
  },
);

test('[A16] every type in a public declaration can be imported', () => {
  expect(entries.map(({ name }) => name)).toContain('stepfast/runtime');
  const files = entries.map(({ types }) => types);
  expect(unexportedTypes(dist, files)).toEqual([]);
});

test('[A16] the check of public types finds what is missing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-types-'));
  try {
    writeFileSync(
      join(directory, 'a.d.ts'),
      'export interface Hidden { a: 1 }\nexport interface Shown { b: Hidden }\n',
    );
    writeFileSync(join(directory, 'index.d.ts'), "export { Shown } from './a.ts';\n");
    expect(unexportedTypes(directory, [join(directory, 'index.d.ts')])).toEqual(['Hidden (named by Shown)']);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

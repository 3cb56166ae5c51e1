import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

const examplesIn = (text: string): string[] =>
  [...text.matchAll(/^(?<margin> \* )?```ts\n(?<code>.*?)^(?: \* )?```$/gms)].map(({ groups }) =>
    (groups?.code ?? '').replaceAll(/^ \* ?/gm, ''),
  );

test('every example of stepfast/testing compiles', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-examples-'));
  try {
    const files = ['docs/testing.md', ...globSync('src/testing/**/*.ts', { cwd: root })];
    const examples = files.flatMap((file) => examplesIn(readFileSync(join(root, file), 'utf8')));
    expect(examples).toHaveLength(5);
    for (const [index, code] of examples.entries())
      writeFileSync(join(directory, `example-${index}.ts`), code);
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
    const paths = { 'stepfast/testing': [join(root, 'src/testing/library.ts')] };
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, lib: ['es2024', 'esnext.disposable'], paths },
        include: ['*.ts'],
      }),
    );
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    expect(spawnSync(tsc, ['-p', directory], { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

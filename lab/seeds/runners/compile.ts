import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sample } from '../extract.ts';
import type { Runner, Seeds } from '../row.ts';
import { programs } from './programs.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const compilations = new Map<string, Promise<string[]>>();

/** The block compiles against the package as its users import it. */
export const compiles: Runner = async (sample, seeds) => assert.deepEqual(await errorsOf(sample, seeds), []);

/** All code of the document compiles. */
export const compilesAll: Runner = async ({ id, text }, seeds) => {
  assert.match(text, /compile/);
  const errors = await errorsIn(codeOf(seeds, id.slice(0, 3)));
  assert.deepEqual(errors, []);
};

const codeOf = (seeds: Seeds, document: string): Sample[] =>
  seeds.of(document).filter(({ id }) => Object.hasOwn(programs, id));

/** The compiler starts once for the code of both documents; a sample that was changed is compiled alone. */
async function errorsOf(sample: Sample, seeds: Seeds): Promise<string[]> {
  const all = ['000', '001'].flatMap((document) => codeOf(seeds, document));
  const known = all.some(({ text }) => text === sample.text);
  const name = nameOf(sample.id);
  return (await errorsIn(known ? all : [sample])).filter((line) => line.startsWith(`${name}(`));
}

function errorsIn(samples: readonly Sample[]): Promise<string[]> {
  const key = samples.map(({ id, text }) => `${id}\0${text}`).join('\0');
  const known = compilations.get(key);
  if (known) return known;
  const compiling = compile(samples);
  compilations.set(key, compiling);
  return compiling;
}

async function compile(samples: readonly Sample[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-seeds-'));
  try {
    for (const { id, text } of samples) writeFileSync(join(folder, nameOf(id)), programs[id]?.(text) ?? text);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2024',
          module: 'nodenext',
          lib: ['es2024'],
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          allowImportingTsExtensions: true,
          typeRoots: [join(root, 'node_modules', '@types')],
          types: ['node'],
          paths: { stepfast: [join(root, 'src', 'index.ts')] },
        },
        include: ['*.ts'],
      }),
    );
    // Errors of our own sources under the options of the printed code are not looked at.
    const output = await new Promise<string>((resolve) => {
      const program = join(root, 'node_modules', '.bin', 'tsc');
      execFile(program, ['-p', '.', '--pretty', 'false'], { cwd: folder }, (_, stdout, stderr) =>
        resolve(`${stdout}${stderr}`),
      );
    });
    const lines = output.split('\n').filter((line) => line !== '');
    assert.ok(
      lines.every((line) => /^(?:\s|\S+\(\d+,\d+\): error )/.test(line)),
      output,
    );
    return lines.filter((line) => /^\d{3}-/.test(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const nameOf = (id: string): string => `${id.replace('/', '-')}.ts`;

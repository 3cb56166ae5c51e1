/** Printed TypeScript: types against ours, tests and checks run with our package. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as library from '../../../src/index.ts';
import { check, type Runner, type Seeds } from '../check.ts';
import type { Sample } from '../samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Runs printed TypeScript as the body of a function that knows these names. */
export function runPrinted(code: string, names: Record<string, unknown>): unknown {
  // A `return` is fine inside a function alone, so that the types are removed inside one.
  const [head, tail] = ['async function printed() {\n', '\n}'];
  const body = stripTypeScriptTypes(`${head}${code}${tail}`).slice(head.length, -tail.length);
  return new Function(...Object.keys(names), body)(...Object.values(names));
}

const declared = /^export (?:type|interface) (\w+)/m;
const types = ['LoopStep', 'StepContextAction', 'Task', 'TaskContext', 'WorkflowState', 'WorkflowStep'];

/** A value of the printed type is one of ours; `given` is the other way around. */
function programsOf({ id, text }: Sample): [file: string, code: string][] {
  const name = declared.exec(text)?.[1] ?? '';
  const others = types.filter((each) => each !== name).join(', ');
  const head = `import type { ${others}, ${name} as Ours } from 'stepfast';\n${text}\n`;
  const taken = `type Unknown = Exclude<keyof ${name}, keyof Ours>;
export const known: [Unknown] extends [never] ? true : Unknown = true;
export const taken = (printed: ${name}): Ours => printed;\n`;
  const given = `export const given = (ours: Ours): ${name} => ours;\n`;
  return [
    [fileOf(id, 'taken'), head + taken],
    [fileOf(id, 'given'), head + given],
  ];
}

const fileOf = (id: string, way: 'taken' | 'given'): string => `${id.replace('/', '-')}-${way}.ts`;

let compiled: string[] | undefined;

/** The errors in all printed types, which the compiler sees once. */
function errorsIn(seeds: Seeds): string[] {
  if (compiled) return compiled;
  using made = mkdtempDisposableSync(join(tmpdir(), 'stepfast-seeds-'));
  const folder = made.path;
  const blocks = ['000', '001'].flatMap((document) => seeds.of(document));
  for (const [file, code] of blocks.filter(({ text }) => declared.test(text)).flatMap(programsOf))
    writeFileSync(join(folder, file), code);
  const compilerOptions = {
    ...{ target: 'es2024', module: 'nodenext', lib: ['es2024'], strict: true, noEmit: true },
    ...{ skipLibCheck: true, allowImportingTsExtensions: true, types: ['node'] },
    typeRoots: [join(root, 'node_modules', '@types')],
    paths: { stepfast: [join(root, 'src', 'index.ts')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const program = join(root, 'node_modules', '.bin', 'tsc');
  const { stdout } = spawnSync(program, ['-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  // Errors of our own sources under these options are not looked at.
  compiled = stdout.split('\n').filter((line) => /^\d{3}-/.test(line));
  return compiled;
}

const fits =
  (...ways: ('taken' | 'given')[]): Runner =>
  ({ id, text }, seeds) => {
    assert.match(text, declared);
    const files = ways.map((way) => `${fileOf(id, way)}(`);
    assert.deepEqual(
      errorsIn(seeds).filter((line) => files.some((file) => line.startsWith(file))),
      [],
    );
  };

export const typed = check('compiled: a value of the type is one of ours', fits('taken'));
export const typedBoth = check('compiled: the type and ours are the same', fits('taken', 'given'));

/** Runs the tests of a block, or those in a suite of this name. */
function runTests(code: string, only?: string): number {
  const suites: string[] = [];
  const setups: (() => void)[] = [];
  let count = 0;
  runPrinted(code, {
    ...library,
    assert,
    suite(name: string, body: () => void) {
      const known = setups.length;
      suites.push(name);
      body();
      suites.pop();
      setups.length = known;
    },
    setup: (body: () => void) => setups.push(body),
    test(_: string, body: () => void) {
      if (only !== undefined && !suites.includes(only)) return;
      for (const setup of setups) setup();
      body();
      count += 1;
    },
  });
  return count;
}

export const testsPass = check('the tests pass', ({ text }) => assert.notEqual(runTests(text), 0));

export const testsOfDocument = check('the tests that the document prints are run', ({ id, text }, seeds) => {
  const { only } = /^npm test(?: -- --grep "(?<only>[^"]+)")?$/.exec(text)?.groups ?? assert.fail(text);
  const blocks = seeds.of(id.slice(0, 3)).filter((each) => /^(?:suite|test)\(/m.test(each.text));
  assert.notEqual(
    blocks.reduce((sum, block) => sum + runTests(block.text, only), 0),
    0,
  );
});

const refuses = (act: () => unknown): boolean => {
  try {
    act();
    return false;
  } catch (error) {
    if (error instanceof library.WorkflowValidationError) return true;
    throw error;
  }
};

export const refusesAlike = check('refuses the values that our loader refuses', ({ text }) => {
  const inLoop = /\bLoop step\b/.test(text);
  const outcomes = [undefined, 'compact', 'clear', 'invalid', 'Compact', '', 5, true, null].map((context) => {
    const step = { id: 'one', instructions: 'Do one', context };
    const workflow = inLoop
      ? { loops: { work: [step] }, steps: [{ id: 'work', type: 'loop' }] }
      : { steps: [{ ...step, type: 'action' }] };
    const yaml = JSON.stringify({ name: 'w', description: 'W', ...workflow });
    const ours = refuses(() => library.loadWorkflowTemplateFromString(yaml));
    const theirs = refuses(() => runPrinted(text, { ...library, step: { context }, stepId: 'one' }));
    assert.equal(ours, theirs, `context: ${context}`);
    return theirs;
  });
  assert.ok(outcomes.includes(true));
});

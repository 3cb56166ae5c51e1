import { expect, test } from 'vitest';
import { advanceWithGate } from '../scripts/crossings/advance-with-gate.ts';
import { type Call, chainTo, edgesOf, entriesOf, joinRecords, walkOf } from '../scripts/crossings/calls.ts';
import { instrument, probeName } from '../scripts/crossings/instrument.ts';
import { reportOn } from '../scripts/crossings/report.ts';

/** Runs instrumented code and returns its value and what it reported. */
async function reported(source: string): Promise<{ value: unknown; reports: string[] }> {
  const reports: string[] = [];
  const probe = {
    enter(file: string, name: string, body: () => unknown): unknown {
      reports.push(`${file}:${name}`);
      return body();
    },
    load: (isLoading: boolean) => reports.push(isLoading ? 'load' : 'loaded'),
  };
  const run = new Function(probeName, `${instrument(source, 'a.ts')}; return f.call({ x: 1 }, 2);`);
  return { value: await run(probe), reports };
}

test.each([
  ['a declaration', 'function f(y) { return this.x + y; }', 3, ['f']],
  [
    'an async arrow',
    'const g = async () => 1; const f = async (y) => ({ sum: (await g()) + y });',
    { sum: 3 },
    ['f', 'g'],
  ],
  ['a nested arrow', 'const f = (y) => [y].map((z) => z + 1)[0];', 3, ['f', 'anonymous']],
  ['arguments', 'function f() { return arguments.length; }', 1, ['f']],
  ['a generator', 'function* g(y) { yield y; } const f = (y) => [...g(y)][0];', 2, ['f', 'g']],
  [
    'a class',
    'class A { constructor() { this.a = 5; } get b() { return this.a; } } const f = () => new A().b;',
    5,
    ['f', 'constructor', 'b'],
  ],
  ['text that is not ASCII', "const sign = '→ü'; const f = () => sign;", '→ü', ['f']],
])('%s does what it did and reports its entry', async (_, source, value, names) => {
  const expected = ['load', 'loaded', ...names.map((name) => `a.ts:${name}`)];
  expect(await reported(source)).toEqual({ value, reports: expected });
});

test('a module that waits at its top level is not one that is only loaded', () => {
  expect(instrument('await start();', 'a.ts')).toBe('await start();');
  expect(instrument('start(async () => await stop());', 'a.ts')).toContain('load(true)');
});

const call = (file: string, parent?: Call, rest: Partial<Call> = {}): Call => ({
  file,
  name: 'f',
  parent,
  ...rest,
});

test('crossings are counted along a chain, over the whole call and in the walk', () => {
  const root = call('mcp/a.ts');
  const inner = call('mcp/b.ts', root);
  const runtime = call('runtime/a.ts', inner);
  const helper = call('errors.ts', runtime);
  const again = call('runtime/b.ts', call('mcp/a.ts', root));
  const leaf = call('store/a.ts', again, { name: 'append' });
  const calls = [root, inner, runtime, helper, again, leaf];
  expect(entriesOf(chainTo(leaf).map(({ file }) => file))).toEqual([
    'mcp/a.ts',
    'runtime/b.ts',
    'store/a.ts',
  ]);
  expect(edgesOf(calls)).toEqual(['mcp -> runtime', 'runtime -> .', 'runtime -> store']);
  expect(walkOf(calls)).toEqual([
    'mcp/a.ts',
    'mcp/b.ts',
    'runtime/a.ts',
    'errors.ts',
    'runtime/b.ts',
    'store/a.ts',
  ]);
  expect(reportOn(calls, { append: ({ name }) => name === 'append' }).figures).toEqual({
    chain: ['mcp/a.ts', 'runtime/b.ts', 'store/a.ts'],
    crossings: 2,
    chains: { append: 2 },
    pairs: 3,
    walk: { files: 6, changes: 4 },
  });
  expect(() => reportOn(calls, { gate: () => false })).toThrow('gate');
});

test('a started process goes on with the chain of the call that started it', () => {
  const joined = joinRecords([
    {
      id: '1',
      calls: [
        { file: 'mcp/a.ts', name: 'f', parent: -1 },
        { file: 'mcp/a.ts', name: 'spawn', parent: 0, command: 'node main.ts', id: '2' },
        { file: 'machine/a.ts', name: 'g', parent: 0 },
      ],
    },
    { id: '2', calls: [{ file: 'cli/a.ts', name: 'h', parent: -1 }] },
  ]);
  expect(joined.map(({ file }) => file)).toEqual(['mcp/a.ts', 'mcp/a.ts', 'cli/a.ts', 'machine/a.ts']);
  expect(edgesOf(joined)).toEqual(['mcp -> cli', 'mcp -> machine']);
});

test('an advance is recorded from the tool to the store and to the process of its gate', async () => {
  const calls = joinRecords(await advanceWithGate.record());
  const { chain, chains, crossings } = reportOn(calls, advanceWithGate.leaves).figures;
  expect(chain[0]).toMatch(/^mcp\//);
  expect(Object.keys(chains)).toEqual(['store append', 'gate start']);
  expect(crossings).toBeGreaterThanOrEqual(Math.max(...Object.values(chains)));
  expect(calls.filter(({ parent }) => !parent)).toHaveLength(1);
});

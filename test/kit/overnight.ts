/** The repository of examples/overnight, and the agents that work there by a script. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../src/cli/index.ts';
import type { Event } from '../../src/machine/index.ts';
import {
  type Answer,
  contextOf,
  lastUser,
  type ModelRequest,
  reply,
  type ScriptedModel,
} from '../../src/testing/index.ts';

export const overnightDirectory = join(packageRoot(), 'examples', 'overnight');

/** The files of the repository by their paths. */
export function overnightFiles(): Record<string, string> {
  const shop = join(overnightDirectory, 'shop');
  return Object.fromEntries(
    readdirSync(shop, { recursive: true, encoding: 'utf8' })
      .map((name) => join(shop, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => [relative(shop, file), readFileSync(file, 'utf8')]),
  );
}

const sum = 'items.reduce((sum, { price, count }) => sum + price * count, 0)';
const guard = `  if (items.some(({ count }) => count < 0)) throw new RangeError('a count is negative');\n`;
const codes = 'const codes = { TEN: 0.1 };\n\n';
const cart = {
  careless: `export const total = (items) => Math.abs(${sum});\n`,
  guarded: `export const total = (items) => {\n${guard}  return ${sum};\n};\n`,
  discounted: `${codes}export const total = (items, code) => ${sum} * (1 - (codes[code] ?? 0));\n`,
  both: `${codes}export const total = (items, code) => {\n${guard}  return ${sum} * (1 - (codes[code] ?? 0));\n};\n`,
};

const testFile = (names: string, from: string, title: string, assertion: string): string =>
  `import assert from 'node:assert';
import { test } from 'node:test';
import { ${names} } from './${from}';

test('${title}', () => ${assertion});
`;

const tests = {
  'negative.test.js': testFile(
    'total',
    'cart.js',
    'a negative count is refused',
    'assert.throws(() => total([{ price: 3, count: -1 }]), RangeError)',
  ),
  'discount.test.js': testFile(
    'total',
    'cart.js',
    'a code takes ten percent off',
    "assert.equal(total([{ price: 10, count: 1 }], 'TEN'), 9)",
  ),
  'currency.test.js': testFile(
    'shown',
    'currency.js',
    'a total is shown in euros',
    "assert.equal(shown(9), '€9.00')",
  ),
};

const plan = `# Plan

- Refuse negative counts: cart.js, negative.test.js
- Apply a discount code: cart.js, discount.test.js
- Show the total with its currency: currency.js, currency.test.js
`;
const ticked = `# Cart

- [x] Refuse negative counts
- [x] Apply a discount code
- [x] Show the total with its currency
`;
const changes = `# Changes

- A negative count is refused.
- The code TEN takes ten percent off.
- The total is shown in euros.
`;

/** Where the session of a request works. */
function directoryOf(request: ModelRequest): string {
  const [, directory] = /working directory: (\S+)/i.exec(contextOf(request)) ?? [];
  if (directory === undefined) throw new Error('the request names no directory');
  return directory;
}

const write =
  (file: string, content: string): Answer =>
  (request) =>
    reply.tool('Write', { file_path: join(directoryOf(request), file), content });

export interface OvernightOptions {
  events(): Promise<readonly Event[]>;
  /** How long the model thinks before each answer. */
  delayMs?: number;
}

/**
 * One agent claims that its work is done, and it is not; two change the same line. Each waits for the merge that the
 * story needs before its own, so that every run is the same.
 */
export function scriptOvernight(model: ScriptedModel, { events, delayMs = 0 }: OvernightOptions): void {
  const merged = async (title: string): Promise<void> => {
    for (;;) {
      const seen = await events();
      const tasks = seen.flatMap((event) => (event.type === 'tasks.set' ? event.tasks : []));
      const id = tasks.find((task) => task.title === title)?.id;
      if (seen.some((event) => event.type === 'merge.finished' && event.task === id)) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const after =
    (title: string, answer: Answer): Answer =>
    async (request) => {
      await merged(title);
      return typeof answer === 'function' ? await answer(request) : answer;
    };
  const slowly =
    (answer: Answer): Answer =>
    async (request) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      return typeof answer === 'function' ? await answer(request) : answer;
    };
  const on = (pattern: RegExp, ...answers: Answer[]): void =>
    model.on(lastUser(pattern), ...answers.map(slowly));

  const read =
    (file: string): Answer =>
    (request) =>
      reply.tool('Read', { file_path: join(directoryOf(request), file) });

  on(
    /Write docs\/plan\.md/,
    read('docs/checklist.md'),
    write('docs/plan.md', plan),
    reply.text('The plan has one test for each of the three items.'),
  );
  for (const [title, file] of [
    ['Refuse negative counts', 'negative.test.js'],
    ['Apply a discount code', 'discount.test.js'],
    ['Show the total with its currency', 'currency.test.js'],
  ] as const)
    on(
      new RegExp(`${title}\\s+Write a test`),
      write(file, tests[file]),
      reply.text(`${file} fails, as it should.`),
    );
  on(
    /Refuse negative counts\s+Make the test pass/,
    read('cart.js'),
    write('cart.js', cart.careless),
    reply.text('Negative counts are refused. All tests pass.'),
  );
  on(/do not pass/, write('cart.js', cart.guarded), reply.text('total() now throws for a negative count.'));
  on(
    /Apply a discount code\s+Make the test pass(?![\s\S]*could not be merged)/,
    after('Refuse negative counts', read('cart.js')),
    write('cart.js', cart.discounted),
    reply.text('The code TEN takes ten percent off.'),
  );
  on(
    /could not be merged/,
    read('cart.js'),
    write('cart.js', cart.both),
    reply.text('Both changes of total() are in.'),
  );
  on(
    /Show the total with its currency\s+Make the test pass/,
    after(
      'Apply a discount code',
      write('currency.js', "export const shown = (sum) => '€' + sum.toFixed(2);\n"),
    ),
    reply.text('shown() adds the currency.'),
  );
  on(
    /Tick what is done/,
    read('docs/checklist.md'),
    write('docs/checklist.md', ticked),
    write('CHANGELOG.md', changes),
    reply.text('The list is ticked, and CHANGELOG.md says what is new.'),
  );
  on(
    /You are the reviewer of/,
    read('CHANGELOG.md'),
    ({ lastUser: text }) =>
      reply.tool('mcp__plugin_stepfast_stepfast__workflow_advance', {
        at: /reviewer of (\S+),/.exec(text)?.[1] ?? '',
        verdict: 'approve',
        output: 'Each item has a test, and the tests say what the list asks for.',
      }),
    reply.text('Approved.'),
  );
}

/** A report without what differs from run to run: ids, times, figures of the host, hashes. */
export function overnightReport(text: string): string {
  const hashes = new Map<string, string>();
  const hash = (found: string): string => {
    const known = hashes.get(found) ?? createHash('sha256').update(`hash ${hashes.size}`).digest('hex');
    hashes.set(found, known);
    return known.slice(0, found.length);
  };
  return text
    .replaceAll(/overnight-\d{8}-[a-z0-9]{8}/g, 'overnight-20261117-k3f9x2ab')
    .replaceAll(/(?<= · )(?:\d+ (?:h|min|s) ?)+(?= · )/g, '…')
    .replaceAll(/[\d,]+ tokens · \$[\d.]+/g, '… tokens · $…')
    .replaceAll(/(?<=`)[0-9a-f]{10,12}(?=`)/g, hash);
}

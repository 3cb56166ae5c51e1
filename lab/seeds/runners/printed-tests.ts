import assert from 'node:assert/strict';
import { runPrintedTests } from '../../../test/kit/printed-tests.ts';
import type { Sample } from '../extract.ts';
import type { Runner, Seeds } from '../row.ts';

interface Case {
  name: string;
  suites: string[];
  run(): void;
}

/** Every test of the block passes. */
export const testsPass: Runner = ({ text }) => run(casesIn(text));

/** `npm test`, with `--grep` for the suites of that name: the document's own tests pass. */
export const testsOfDocument: Runner = ({ id, text }, seeds) => {
  const { pattern } = /^npm test(?: -- --grep "(?<pattern>[^"]+)")?$/.exec(text)?.groups ?? assert.fail(text);
  const cases = testBlocks(seeds, id.slice(0, 3)).flatMap((block) => casesIn(block.text));
  run(cases.filter(({ suites }) => pattern === undefined || suites.includes(pattern)));
};

export const testBlocks = (seeds: Seeds, document: string): Sample[] =>
  seeds.of(document).filter(({ kind, text }) => kind === 'block' && /^(?:suite|test)\(/m.test(text));

function run(cases: readonly Case[]): void {
  assert.notEqual(cases.length, 0, 'no test was found');
  for (const each of cases) each.run();
}

function casesIn(code: string): Case[] {
  const cases: Case[] = [];
  const suites: string[] = [];
  const setups: (() => void)[] = [];
  runPrintedTests(code, {
    suite(name, body) {
      const known = setups.length;
      suites.push(name);
      body();
      suites.pop();
      setups.length = known;
    },
    setup: (body) => void setups.push(body),
    test(name, body) {
      const before = [...setups];
      const run = (): void => {
        for (const each of before) each();
        body();
      };
      cases.push({ name, suites: [...suites], run });
    },
    assert: {
      strictEqual: assert.strictEqual,
      throws: (act, type, message) => assert.throws(act, type, message),
    },
  });
  return cases;
}

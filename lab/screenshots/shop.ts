/** A small shop with tests that fail until someone fixes them. */
import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadWorkflowTemplateFromString } from '../../src/definition/index.ts';
import type { Definition } from '../../src/machine/index.ts';
import { createTestProject, runtimeIn } from '../../src/testing/index.ts';

const cart = `export class Cart {
  #lines = [];
  add(article, count) {
    this.#lines.push({ article, count });
  }
  total() {
    return this.#lines.reduce((sum, { article, count }) => sum + article.cents * count, 0);
  }
}
`;

const fixed = cart.replace(
  '    this.#lines.push',
  "    if (!Number.isInteger(count) || count < 1) throw new RangeError('count must be at least 1');\n    this.#lines.push",
);

const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cart } from '../src/cart.js';

const shirt = { id: 'shirt', cents: 1990 };

test('adds up the prices of its articles', () => {
  const cart = new Cart();
  cart.add(shirt, 2);
  assert.equal(cart.total(), 3980);
});
test('is free when it is empty', () => assert.equal(new Cart().total(), 0));
test('refuses a count below one', () => {
  assert.throws(() => new Cart().add(shirt, -1), RangeError);
});
test('refuses half an article', () => {
  assert.throws(() => new Cart().add(shirt, 0.5), RangeError);
});
`;

const checkoutText = `name: feature
description: Plan it, build it in tasks, prove it
boundaries: require
budget: { turns: 120 }
agents:
  reviewer: { description: Reads the change }
inputs:
  issue: { type: string }
loops:
  build:
    - { id: code, title: Write it, instructions: Write the test first and then the code., gate: [{ run: npm test }] }
    - { id: check, title: Look at it again, instructions: Read the change again. }
steps:
  - id: plan
    type: action
    title: Plan
    instructions: |
      Read the issue and the code of the checkout.
      Write the tasks down, small enough that each has one test.
    review: { by: human, on_pivot: plan }
  - { id: build, type: loop, title: Build, parallel: 3 }
  - id: prove
    type: action
    title: Prove
    context: clear
    instructions: Run all tests once more and describe the change in CHANGES.md.
    gate: [{ run: npm test }, { exists: CHANGES.md }]
`;

const bugfixText = `name: bugfix
description: Fix a bug and prove it
budget: { turns: 40 }
steps:
  - { id: fix, type: action, title: Fix, instructions: "Write a test that fails, then fix it.", gate: [{ run: npm test }] }
  - { id: describe, type: action, title: Describe, instructions: Describe the fix., gate: [{ run: npm test }, { exists: CHANGES.md }], review: { by: human } }
`;

export const checkout: Definition = loadWorkflowTemplateFromString(checkoutText);
export const bugfix: Definition = loadWorkflowTemplateFromString(bugfixText);

export interface Shop {
  root: string;
  home: string;
  runtime(): ReturnType<typeof runtimeIn>;
  write(file: string, text: string): void;
  /** What the tests print, with the bug or without it. */
  test(state: 'broken' | 'fixed'): { output: string; ms: number };
  [Symbol.dispose](): void;
}

export function createShop(): Shop {
  const made = createTestProject({
    'src/cart.js': cart,
    'test/cart.test.js': tests,
    'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
    '.stepfast/workflows/feature.yaml': checkoutText,
    '.stepfast/workflows/bugfix.yaml': bugfixText,
  });
  const { home, env } = made;
  const directory = dirname(home);
  // The pages show its name.
  const root = join(directory, 'shop');
  renameSync(made.root, root);
  const write = (file: string, text: string): void => writeFileSync(join(root, file), text);
  return {
    root,
    home,
    write,
    runtime: () => runtimeIn({ root, home, env }),
    test(state) {
      write('src/cart.js', state === 'broken' ? cart : fixed);
      const from = performance.now();
      const args = ['--test', '--test-reporter=spec'];
      const { stdout } = spawnSync(process.execPath, args, {
        cwd: root,
        env: { ...env, FORCE_COLOR: '1' },
        encoding: 'utf8',
      });
      return { output: stdout.replaceAll(directory, '~'), ms: Math.round(performance.now() - from) };
    },
    [Symbol.dispose]: () => made[Symbol.dispose](),
  };
}

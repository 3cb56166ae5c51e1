import { stripTypeScriptTypes } from 'node:module';
import {
  loadWorkflowTemplateFromString,
  WorkflowStateMachine,
  WorkflowValidationError,
} from '../../src/index.ts';

/** The functions of a test framework that the printed tests call. */
export interface TestFramework {
  suite(name: string, body: () => void): void;
  setup(body: () => void): void;
  test(name: string, body: () => void): void;
  assert: {
    strictEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(act: () => unknown, type: new (...args: never[]) => Error, message?: string): void;
  };
}

/** Runs tests as a document prints them: only their framework and the package are ours. */
export function runPrintedTests(code: string, { suite, setup, test, assert }: TestFramework): void {
  runPrinted(code, {
    suite,
    setup,
    test,
    assert,
    loadWorkflowTemplateFromString,
    WorkflowStateMachine,
    WorkflowValidationError,
  });
}

/** Runs printed TypeScript as the body of a function that knows these names. */
export const runPrinted = (code: string, names: Record<string, unknown>): unknown =>
  new Function(...Object.keys(names), javaScriptOf(code))(...Object.values(names));

/** A `return` is fine inside a function alone, so that the types are removed inside one. */
function javaScriptOf(code: string): string {
  const [head, tail] = ['async function printed() {\n', '\n}'];
  return stripTypeScriptTypes(`${head}${code}${tail}`).slice(head.length, -tail.length);
}

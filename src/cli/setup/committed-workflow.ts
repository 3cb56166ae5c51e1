import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { grantsOf } from '../../definition/index.ts';
import { type Definition, inputProblem, own, refuse, type Scalar } from '../../machine/index.ts';
import { grantText, type RefusalText, refusalText, shellVoice } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';

/** In CI, a hash on the command line grants trust. */
export function untrusted(
  definition: Definition,
  hash: string,
  { trust }: LocalRuntime,
): RefusalText | undefined {
  if (trust.has(definition)) return undefined;
  const commands = grantsOf(definition).map(grantText).join('; ');
  return {
    code: 'untrusted',
    message: `the committed '${definition.name}' runs commands that are not trusted on this machine: ${commands}`,
    next: `review them, then add --trust ${hash}`,
  };
}

/** As a start of the workflow would refuse it. */
export function badInput(definition: Definition, inputs: Record<string, Scalar>): RefusalText | undefined {
  for (const [name, value] of Object.entries(inputs)) {
    const problem = inputProblem(own(definition.inputs, name) ?? {}, value);
    if (problem)
      return refusalText(refuse('bad_input', { workflow: definition.name, name, ...problem }), shellVoice());
  }
  return undefined;
}

/** Resolves symbolic links, which may point outside. */
export function isInside(top: string, file: string): boolean {
  const path = relative(realpathSync(top), realpathSync(file));
  return !path.startsWith('..') && !isAbsolute(path);
}

/** The project's folder in its repository. */
export const folderIn = (worktree: string): string => relative(topOf(worktree), worktree);

function topOf(directory: string): string {
  for (let top = directory; ; top = dirname(top)) {
    if (existsSync(join(top, '.git')) || top === dirname(top)) return top;
  }
}

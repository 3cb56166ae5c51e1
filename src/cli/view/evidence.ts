import type { Definition, Output, Receipt, Text } from '../../machine/index.ts';
import { ago, lasting } from '../age.ts';
import type { Span } from '../paint.ts';
import { printable } from '../text.ts';
import type { Signs } from './signs.ts';

interface Surroundings {
  definition: Definition;
  /** The tree as it is now; undefined where it is unknown. */
  tree: string | undefined;
  now: number;
}

/** `npm test passed 4 min ago on this tree`, or `unverified`. */
export function evidenceOf(output: Output, { definition, tree, now }: Surroundings): Span[] {
  const passed = output.receipts.filter(({ pass, role }) => pass && role !== 'until');
  const age = ago(output.now, now);
  const approved: Span[] =
    output.reviewed === undefined ? [] : [', ', ['magenta', `approved by ${printable(output.reviewed)}`]];
  if (passed.length === 0) return [['yellow', 'unverified'], ['dim', `, ${age}`], ...approved];
  const what = [...new Set(passed.map((receipt) => sayGate(definition, receipt)))].join(', ');
  const where =
    tree === undefined || output.tree === undefined
      ? ''
      : output.tree === tree
        ? ' on this tree'
        : ' on an older tree';
  const look = where === ' on an older tree' ? 'yellow' : 'green';
  return [[look, what], ['dim', ` ${age}`], [look, where], ...approved];
}

/** One gate in words: `npm test passed`, `PLAN.md exists`. */
export function sayGate(definition: Definition, receipt: Receipt): string {
  const what = printable(receipt.what);
  if (receipt.exit !== undefined) return receipt.pass ? `${what} passed` : `${what}: exit ${receipt.exit}`;
  const kind = kindOf(definition, receipt.what);
  if (kind === 'run') return `${what} ${receipt.pass ? 'passed' : 'failed'}`;
  if (kind === 'read') return `${what} ${receipt.pass ? 'was read' : 'was not read as it is now'}`;
  if (kind === 'condition') return `${what} ${receipt.pass ? 'holds' : 'does not hold'}`;
  return `${what} ${receipt.pass ? 'exists' : 'does not exist'}`;
}

function kindOf({ steps, loops = {} }: Definition, what: string): 'run' | 'exists' | 'condition' | 'read' {
  const work = [...steps, ...Object.values(loops).flat()];
  const gates = work.flatMap((step) => [
    ...(step.gate ?? []),
    ...('until' in step ? (step.until ?? []) : []),
  ]);
  if (gates.some(({ run }) => run === what)) return 'run';
  if (gates.some(({ condition }) => condition === what)) return 'condition';
  // A file's name may have been a placeholder, so what is nothing else is one.
  return gates.some(({ read }) => read?.join(', ') === what) ? 'read' : 'exists';
}

const tailLines = 8;

/** A red gate with the end of its output. */
export function redGate(definition: Definition, receipt: Receipt, signs: Signs): Span[][] {
  const took = receipt.ms === undefined ? '' : `  ${lasting(receipt.ms)}`;
  const lines = (receipt.tail ?? '')
    .trimEnd()
    .split('\n')
    .filter((line, index, all) => line.trim() !== '' || index < all.length - 1);
  const shown = lines.slice(-tailLines).filter((line) => line !== '');
  return [
    [
      ['red', `${signs.bad} ${sayGate(definition, receipt)}`],
      ['dim', took],
    ],
    ...shown.map((line): Span[] => ['    ', ['dim', printable(line)]]),
  ];
}

export const openingOf = (text: Text): string => {
  const opening = typeof text === 'string' ? text : text.opening;
  return printable(
    opening
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? '',
  );
};

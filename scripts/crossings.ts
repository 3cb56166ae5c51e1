/**
 * Records one call through the real program, run from `src`, and prints where it crosses top folders of `src`.
 * - Chain: the functions from the tool's entry to a leaf (the append of the journal; the start of the gate's process),
 *   through awaits and into a process that one of them starts. Its crossings are the changes of folder along it.
 *   The figure `crossings` is their sum over the chains: the boundaries that a reader follows from the call to its effects.
 * - Pairs: the distinct ordered pairs of folders (A -> B) where any function of A called one of B.
 * - Walk: each file when it is first entered, in order, and the changes of folder in that list.
 * What a module calls while it is loaded does not count. A file directly in `src` is in the folder `.`.
 */
import { advanceWithGate as scenario } from './crossings/advance-with-gate.ts';
import { joinRecords } from './crossings/calls.ts';
import { reportOn } from './crossings/report.ts';

const { text, figures } = reportOn(joinRecords(await scenario.record()), scenario.leaves);
console.log(`${scenario.name}\n\n${text}`);
console.log(JSON.stringify({ scenario: scenario.name, ...figures }));

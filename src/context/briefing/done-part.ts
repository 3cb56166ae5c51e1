import { endedUnproven, type Output, opening, receiptValidity, type State } from '../../machine/index.ts';
import { greenNowText, unprovenText } from '../../messages/index.ts';
import { age, oneLine } from './bounded-text.ts';
import type { ListedPart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { maxItem, maxLabel, maxPhrase } from './budget-bounds.ts';
import type { SeenLines } from './seen-lines.ts';
import { truncate, truncateLine } from './text-size.ts';

/** No budget shows more than these. */
const maxOutputs = 100;
const maxFailed = 50;
const maxGates = 3;
const hashDigits = 8;

/** Failed tasks first, then outputs, newest first, each with its evidence and age. */
export function donePart(source: BriefingSource, seen: SeenLines, most = maxOutputs): ListedPart {
  const { failed, count } = failedTasks(source.state, most === maxOutputs ? maxFailed : most);
  return {
    name: 'done',
    total: count + Object.keys(source.state.outputs).length,
    items: (function* () {
      yield* failed;
      for (const [key, output] of newestOutputs(source.state, most))
        yield doneLine(source, key, output, seen);
    })(),
  };
}

function failedTasks({ tasks }: State, most: number): { failed: string[]; count: number } {
  const failed: string[] = [];
  let count = 0;
  for (const [loop, { order, byId }] of Object.entries(tasks)) {
    for (const id of order) {
      const task = Object.hasOwn(byId, id) ? byId[id] : undefined;
      if (task?.end === undefined || task.end === 'done') continue;
      count += 1;
      if (failed.length >= most) continue;
      failed.push(truncate(oneLine(`- ${loop}.${id} ${task.end}: ${task.title}`), maxItem));
    }
  }
  return { failed, count };
}

/** One pass over all outputs; drops older ones while collecting, so that memory stays bounded. */
export function newestOutputs({ outputs }: State, most: number): [key: string, output: Output][] {
  let kept: { at: number; key: string; output: Output }[] = [];
  const newest = () =>
    kept.sort((one, other) => other.output.now - one.output.now || other.at - one.at).slice(0, most);
  for (const [at, key] of Object.keys(outputs).entries()) {
    const output = outputs[key];
    if (output) kept.push({ at, key, output });
    if (kept.length >= 2 * most) kept = newest();
  }
  return newest().map(({ key, output }) => [key, output]);
}

function doneLine(source: BriefingSource, key: string, output: Output, seen: SeenLines): string {
  const facts = [
    evidence(source, output),
    ...(output.reviewed === undefined ? [] : [`approved by ${short(output.reviewed)}`]),
    age(output.now, source.now),
  ];
  const words = truncateLine(opening(output.text), maxPhrase);
  const quote = words !== '' && seen.first(words) ? `: ${words}` : '';
  return truncate(`- ${oneLine(key)} (${facts.join('; ')})${quote}`, maxItem);
}

function evidence({ definition, tree }: BriefingSource, output: Output): string {
  const passed = output.receipts.filter(({ pass, role }) => pass && role !== 'until');
  if (endedUnproven(definition, output)) {
    const red = output.receipts.filter(({ pass, role }) => !pass && role === 'until');
    return unprovenText(red.slice(0, maxGates).map(({ what }) => short(what)));
  }
  if (passed.length === 0) return 'unverified';
  const gates = passed.slice(0, maxGates).map(({ what, exit, before }) => {
    const was = before === undefined ? '' : ` (${greenNowText(before)})`;
    return `'${short(what)}'${exit === undefined ? '' : ` with exit ${exit}`}${was}`;
  });
  const rest = passed.length > maxGates ? ` and ${passed.length - maxGates} more` : '';
  return `passed ${gates.join(', ')}${rest} ${onTree(output.tree, tree)}`;
}

function onTree(then: string | undefined, now: string | undefined): string {
  const validity = receiptValidity(then, now);
  if (then === undefined || validity === 'unknown') return 'on an unknown tree';
  if (validity === 'valid') return 'on this tree';
  return `on another tree (${oneLine(then.replace(/^[a-z]+:/, '')).slice(0, hashDigits)})`;
}

const short = (text: string): string => truncateLine(text, maxLabel);

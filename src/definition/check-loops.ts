import { didYouMean } from '../suggest.ts';
import type { Checked } from './check-steps.ts';
import { child, entries, type MapNode, maps, type Node, textOf } from './yaml-tree.ts';

/** Which loop each loop step goes over, by the step's id. */
export function matchLoops({ root, report, reference }: Checked): Map<string, string> {
  const loops = new Map(entries(child(root, 'loops')));
  const loopSteps = maps(child(root, 'steps')).filter((step) => textOf(child(step, 'type')) === 'loop');
  const matched = new Map<string, string>();
  const claimed = new Map<string, string>();
  const claim = (id: string, loop: string, node: Node): void => {
    const other = claimed.get(loop);
    if (other !== undefined && other !== id) {
      report(
        'error',
        'loop_used_twice',
        node,
        `Loop '${loop}' is already used by step '${other}'`,
        'Give each loop step its own loop.',
      );
    }
    claimed.set(loop, id);
    matched.set(id, loop);
  };

  const open: MapNode[] = [];
  for (const step of loopSteps) {
    const id = textOf(child(step, 'id'));
    if (id === undefined) continue;
    const named = child(step, 'loop');
    const loop = textOf(named);
    if (named === undefined) {
      if (loops.has(id)) claim(id, id, step);
      else open.push(step);
    } else if (loop !== undefined) {
      if (loops.has(loop)) claim(id, loop, named);
      else
        reference(
          'error',
          'unknown_loop',
          named,
          `Step '${id}' names loop '${loop}', which does not exist`,
          () => loopAdvice(loop, loops.keys()),
        );
    }
  }
  const free = [...loops.keys()].filter((loop) => !claimed.has(loop));
  const only = open.length === 1 && free.length === 1 ? free[0] : undefined;
  for (const step of open) {
    const node = child(step, 'id') ?? step;
    const id = textOf(node) ?? '';
    if (only !== undefined) {
      claim(id, only, step);
      report(
        'warning',
        'loop_guessed',
        node,
        `No loop is named '${id}'; step '${id}' takes the only free one, '${only}'`,
        `Write loop: ${only}, or give both the same id.`,
      );
    } else {
      reference('error', 'unknown_loop', node, `No loop is named '${id}'`, () =>
        loopAdvice(id, loops.keys()),
      );
    }
  }
  for (const [id, { key }] of loops) {
    if (!claimed.has(id))
      report(
        'warning',
        'loop_unused',
        key,
        `No step uses loop '${id}'`,
        `Add a step with id: ${id} and type: loop.`,
      );
  }
  return matched;
}

function loopAdvice(id: string, loops: Iterable<string>): string {
  const known = [...loops];
  const list =
    known.length === 0
      ? `Write its sub-steps under loops: ${id}:`
      : `Loops: ${known.slice(0, 10).join(', ')}.`;
  return didYouMean(id, known) ?? list;
}

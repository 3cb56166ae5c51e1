import { checkPath } from './check-artifacts.ts';
import type { Checked } from './check-steps.ts';
import { child, items, keyLocation, maps, type Node, type Report, textOf } from './yaml-tree.ts';

/** How new worktrees are prepared. */
export function checkWorktree({ root, report }: Checked): void {
  const worktree = child(root, 'worktree');
  if (worktree === undefined) return;
  for (const path of items(child(worktree, 'copy'))) checkCopied(path, report);
  const steps = maps(child(root, 'steps'));
  if (steps.length > 0 && !steps.some((step) => Number(numberOf(child(step, 'parallel'))) > 1))
    report(
      'warning',
      'unused_worktree',
      keyLocation(root, 'worktree'),
      "'worktree' has no effect: no loop has parallel: 2 or more, so the tasks have no worktrees",
      'Write parallel: on a loop step, or remove it.',
    );
}

const numberOf = (node: Node | undefined): unknown => (node?.kind === 'scalar' ? node.value : undefined);

function checkCopied(node: Node, report: Report): void {
  const path = textOf(node);
  if (path === undefined) return;
  const [first = ''] = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  const own = /^(?:\.git|\.stepfast)$/i.test(first);
  if (first !== '' && !own && !/^\{/.test(first)) return checkPath(node, "'worktree.copy'", report);
  report(
    'error',
    'bad_path',
    node,
    own
      ? `'worktree.copy' must not name a file in ${first}`
      : `'worktree.copy' must name a file of the project, got '${path.slice(0, 100)}'`,
    'Write for instance .env.test',
  );
}

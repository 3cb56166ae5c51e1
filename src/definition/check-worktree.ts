import { checkPath } from './check-artifacts.ts';
import type { Checked } from './check-steps.ts';
import { child, items, type Node, type Report, textOf } from './yaml-tree.ts';

/** How new worktrees are prepared. */
export function checkWorktree({ root, report }: Checked): void {
  const worktree = child(root, 'worktree');
  if (worktree === undefined) return;
  for (const key of ['copy', 'inputs'] as const)
    for (const path of items(child(worktree, key))) checkFile(path, `'worktree.${key}'`, report);
}

function checkFile(node: Node, key: string, report: Report): void {
  const path = textOf(node);
  if (path === undefined) return;
  const [first = ''] = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  const own = /^(?:\.git|\.stepfast)$/i.test(first);
  if (first !== '' && !own && !/^\{/.test(first)) return checkPath(node, key, report);
  report(
    'error',
    'bad_path',
    node,
    own
      ? `${key} must not name a file in ${first}`
      : `${key} must name a file of the project, got '${path.slice(0, 100)}'`,
    `Write for instance ${key.includes('copy') ? '.env.test' : 'package-lock.json'}`,
  );
}

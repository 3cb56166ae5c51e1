export { runCommand } from './command.ts';
export { commandEnvironment, gitEnvironment } from './environment.ts';
export { type GitResult, git } from './git.ts';
export { runGates } from './run-gates.ts';
export { type Tree, treeOf } from './tree.ts';
export { withWorktree } from './worktree.ts';

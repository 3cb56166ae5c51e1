export { withWorktree } from './committed-worktree.ts';
export { commandEnvironment, gitEnvironment } from './environment.ts';
export { type GitResult, git } from './git.ts';
export { createMatcher } from './path-matcher.ts';
export { runCommand } from './run-command.ts';
export { checkCommand, type GatePass, type GatesRequest, passOf, runGates } from './run-gates.ts';
export { truncateToTail } from './tail-text.ts';
export { type Tree, treeOf } from './tree-hash.ts';

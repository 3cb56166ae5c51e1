import * as checks from '../checks.ts';
import { rowsOf } from '../row.ts';

export const rows = rowsOf('000', {
  'block-1': ['1d698401', 'TypeScript: type of a context action', checks.typedBoth],
  'block-2': ['5fe515a4', 'TypeScript: type of a step', checks.typed],
  'block-3': ['0f757ff1', 'TypeScript: type of a sub-step', checks.typed],
  'block-4': ['11e6b3e0', 'TypeScript: type of a saved state', checks.typedBoth],
  'block-5': ['e026f9e7', 'TypeScript: method that finds the pending context action', checks.onOurs],
  'block-6': ['453530fc', 'TypeScript: method that marks it as executed', checks.onOurs],
  'block-7': ['0f55df87', 'TypeScript: part of a tool handler', checks.asksContext],
  'block-8': ['e07bf37f', 'YAML: a step with a context action', checks.followed],
  'block-9': ['5e04626c', 'YAML: a loop with a context action', checks.followed],
  'block-10': ['b0c97613', 'YAML: iterations with a context action', checks.followed],
  'block-11': ['69731b6e', 'YAML: a sub-step and its step with different actions', checks.followed],
  'command-1': ['6e7ebd65', 'tool that starts', checks.tool],
  'command-2': ['e2f4355e', 'tool that advances', checks.tool],
  'command-3': ['52e657bd', 'slash command that compacts', checks.contextCommand],
  'command-4': ['ddf7839c', 'slash command that clears', checks.contextCommand],
  'command-5': ['0bbf7435', 'tool that shows the status', checks.tool],
  'file-1': ['c1b31281', 'source file of the types', checks.typesFile],
  'file-2': ['08ff0e13', 'source file of the state machine', checks.machineFile],
  'file-3': ['9f457d54', 'source file of the MCP server', checks.serverFile],
  'file-4': ['0cca1915', 'test file', checks.testFile],
});

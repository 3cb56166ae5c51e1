import { rowsOf, standsFor } from '../check.ts';
import * as code from '../runners/code.ts';
import * as handlers from '../runners/handlers.ts';
import * as machine from '../runners/machine.ts';
import * as tools from '../runners/tools.ts';
import * as workflows from '../runners/workflows.ts';

export const rows = rowsOf('000', {
  'block-1': ['1d698401', 'TypeScript: type of a context action', code.typedBoth],
  'block-2': ['5fe515a4', 'TypeScript: type of a step', code.typed],
  'block-3': ['0f757ff1', 'TypeScript: type of a sub-step', code.typed],
  'block-4': ['11e6b3e0', 'TypeScript: type of a saved state', code.typedBoth],
  'block-5': ['e026f9e7', 'TypeScript: method that finds the pending context action', machine.agreesWithOurs],
  'block-6': ['453530fc', 'TypeScript: method that marks it as executed', machine.agreesWithOurs],
  'block-7': ['0f55df87', 'TypeScript: part of a tool handler', handlers.answersAlike],
  'block-8': ['e07bf37f', 'YAML: a step with a context action', workflows.followed],
  'block-9': ['5e04626c', 'YAML: a loop with a context action', workflows.followed],
  'block-10': ['b0c97613', 'YAML: iterations with a context action', workflows.followed],
  'block-11': ['69731b6e', 'YAML: a sub-step and its step with different actions', workflows.followed],
  'command-1': ['6e7ebd65', 'tool that starts', tools.toolAnswers],
  'command-2': ['e2f4355e', 'tool that advances', tools.toolAnswers],
  'command-3': ['52e657bd', 'slash command that compacts', tools.contextCommand],
  'command-4': ['ddf7839c', 'slash command that clears', tools.contextCommand],
  'command-5': ['0bbf7435', 'tool that shows the status', tools.toolAnswers],
  'file-1': ['c1b31281', 'source file of the types', standsFor(/types\.ts$/, '000/block', 1, 2, 3, 4)],
  'file-2': ['08ff0e13', 'source file of the state machine', standsFor(/state\.ts$/, '000/block', 5, 6)],
  'file-3': ['9f457d54', 'source file of the MCP server', standsFor(/server\.ts$/, '000/block', 7)],
  'file-4': ['0cca1915', 'test file', standsFor(/\.test\.ts$/, '001/block', 13, 16)],
});

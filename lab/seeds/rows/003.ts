import * as checks from '../checks.ts';
import { rowsOf } from '../row.ts';

export const rows = rowsOf('003', {
  'block-1': ['ea0a8754', 'layout of a context', checks.layout],
  'block-2': ['96b66709', 'Go: interface of the context manager', checks.goInterface],
  'block-3': ['ce14f924', 'line that keeps the feedback of a budget review', checks.pivot],
  'command-1': ['f7825a53', 'tool that replaces the to-do list', checks.todoTool],
  'file-1': ['e228aa85', 'line that keeps the feedback of a plan review', checks.feedback],
  'file-2': ['0440055a', 'lines that keep index 0', checks.manager],
  'file-3': ['1743deb3', 'template of the planning phase', checks.template],
  'file-4': ['3e31bf82', 'template of the coding phase', checks.template],
  'file-5': ['5c6a1301', 'the to-do list', checks.todoFile],
});

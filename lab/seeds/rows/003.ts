import { rowsOf } from '../check.ts';
import * as window from '../runners/window.ts';

export const rows = rowsOf('003', {
  'block-1': ['ea0a8754', 'layout of a context', window.layout],
  'block-2': ['96b66709', 'Go: interface of the context manager', window.goInterface],
  'block-3': ['ce14f924', 'line that keeps the feedback of a budget review', window.pivot],
  'command-1': ['f7825a53', 'tool that replaces the to-do list', window.todoList],
  'file-1': ['e228aa85', 'line that keeps the feedback of a plan review', window.reviewFeedback],
  'file-2': ['0440055a', 'lines that keep index 0', window.manager],
  'file-3': ['1743deb3', 'template of the planning phase', window.phaseTemplate],
  'file-4': ['3e31bf82', 'template of the coding phase', window.phaseTemplate],
  'file-5': ['5c6a1301', 'the to-do list', window.todoList],
});

/** A main step, a sub-step of a task in a loop, or an iteration of a ralph step. */
export interface Position {
  step: string;
  task?: string;
  subStep?: string;
  iteration?: number;
}

export interface ParsedHandle {
  suffix: string;
  path: string;
  visit: number;
}

/** `build/task-2/verify`, `polish/2`, `plan`. */
export function pathOf(position: Position): string {
  if (position.task !== undefined) return `${position.step}/${position.task}/${position.subStep}`;
  return position.iteration === undefined ? position.step : `${position.step}/${position.iteration}`;
}

/** The key under which a position's output is kept: `step`, `step.iteration`, `step.task.subStep`. */
export const outputKey = (path: string): string => path.replaceAll('/', '.');

/** One cursor for each task of a loop, one for every other step. */
export const cursorKey = (position: Position): string =>
  position.task === undefined ? position.step : `${position.step}/${position.task}`;

export const suffixOf = (run: string): string => run.slice(run.lastIndexOf('-') + 1);

export const formatHandle = (run: string, path: string, visit: number): string =>
  `${suffixOf(run)}:${path}#${visit}`;

export function parseHandle(handle: string): ParsedHandle | undefined {
  const match = /^([^:\s]+):([^#\s]+)#([1-9]\d{0,8})$/.exec(handle);
  const [, suffix, path, visit] = match ?? [];
  if (suffix === undefined || path === undefined || visit === undefined) return undefined;
  return { suffix, path, visit: Number(visit) };
}

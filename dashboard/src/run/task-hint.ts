import type { TaskPage } from '../api-types.ts';
import { type Mark, stepMark, stepWord } from '../ui/marks.ts';

const mergeText = {
  queued: 'waits to be merged',
  merging: 'is being merged',
  returned: 'returned by the merge',
  parked: 'could not be merged',
};

/** A task whose merge is parked waits for a person, although its work is done. */
export const taskMark = ({ merge, tone }: TaskPage): Mark => (merge === 'parked' ? 'person' : stepMark[tone]);

/** The tasks that must end first. */
export const waitsFor = ({ dependsOn }: TaskPage, tasks: readonly TaskPage[]): TaskPage[] =>
  tasks.filter(({ id, end }) => end !== 'done' && end !== 'dropped' && dependsOn.includes(id));

/** What a task does now: its merge, its open sub-step and its holder. */
export function taskHint(task: TaskPage, tasks: readonly TaskPage[]): string {
  const { merge, end, tone, at, holder, subSteps } = task;
  if (merge) return mergeText[merge];
  if (end) return end;
  if (tone === 'ahead') {
    const { length } = waitsFor(task, tasks);
    return length === 0 ? 'ready to start' : `waits for ${length} ${length === 1 ? 'task' : 'tasks'}`;
  }
  const open = subSteps.find(({ id }) => id === at)?.title ?? at;
  const doing =
    tone === 'open' ? (open ?? stepWord('open')) : open ? `${open}: ${stepWord(tone)}` : stepWord(tone);
  return holder === undefined ? doing : `${doing}, ${holder}`;
}

import { type Definition, type Position, type State, subStepsOf } from '../../machine/index.ts';

/** A position as people know it: `Items`, `Polish, round 2`, `Refuse negative counts: build`. */
export function positionTitle(definition: Definition, state: State, position: Position): string {
  const { step: id, task, subStep, iteration } = position;
  const step = definition.steps.find((each) => each.id === id);
  const title = step?.title ?? id;
  if (iteration !== undefined) return `${title}, round ${iteration}`;
  if (task === undefined) return title;
  const sub = step && subStepsOf(definition, step).find((each) => each.id === subStep);
  const rest = sub?.title ?? subStep;
  return rest === undefined ? taskTitle(state, task) : `${taskTitle(state, task)}: ${rest}`;
}

/** The same for the path of a handle. */
export function pathTitle(definition: Definition, state: State, path: string): string {
  const [step = path, second, subStep] = path.split('/');
  if (second === undefined) return positionTitle(definition, state, { step });
  return positionTitle(
    definition,
    state,
    subStep === undefined ? { step, iteration: Number(second) } : { step, task: second, subStep },
  );
}

export function taskTitle({ tasks }: State, id: string): string {
  const list = Object.values(tasks).find(({ byId }) => Object.hasOwn(byId, id));
  return shortTitle(list?.byId[id]?.title ?? id);
}

const maxTitle = 48;

export const shortTitle = (title: string): string =>
  title.length > maxTitle ? `${title.slice(0, maxTitle - 1)}…` : title;

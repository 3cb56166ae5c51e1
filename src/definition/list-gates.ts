import type { Definition, Gate, Step, SubStep } from '../machine/index.ts';

/** The commands that a workflow would run, each once, in its order. */
export function commandsOf({ steps, loops = {} }: Definition): string[] {
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  return [...new Set(gates.flatMap(({ run }) => run ?? []))];
}

/** Files whose change voids no receipt: the to-do list, and what gates say they write. */
export function excludedFrom({ todo_path, steps, loops = {} }: Definition): string[] {
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  const written = gates.flatMap(({ writes }) => writes ?? []);
  return [...(todo_path === undefined ? [] : [todo_path]), ...new Set(written)];
}

export const gatesOf = (step: Step | SubStep): Gate[] => [
  ...(step.gate ?? []),
  ...('until' in step ? (step.until ?? []) : []),
];

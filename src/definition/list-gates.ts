import type { Definition, Gate, Step, SubStep } from '../machine/index.ts';

/** The commands that a workflow would run, each once, in its order. */
export function commandsOf({ steps, loops = {} }: Definition): string[] {
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  return [...new Set(gates.flatMap(({ run }) => run ?? []))];
}

/** Files whose change voids no receipt: the to-do list, and what gates say they write. */
export function excludedFrom({ todo_path, state_mirror, steps, loops = {} }: Definition): string[] {
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  const written = gates.flatMap(({ writes }) => writes ?? []);
  return [...[todo_path, state_mirror].filter((path) => path !== undefined), ...new Set(written)];
}

export const gatesOf = (step: Step | SubStep): Gate[] => [
  ...(step.gate ?? []),
  ...('until' in step ? (step.until ?? []) : []),
];

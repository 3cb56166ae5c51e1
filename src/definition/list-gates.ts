import type { Definition, Gate, Step, SubStep } from '../machine/index.ts';

/** The commands that a workflow would run, each once, in its order. */
export function commandsOf({ steps, loops = {}, finally: last = [] }: Definition): string[] {
  const all = [...steps, ...Object.values(loops).flat()];
  const commands = all.flatMap((step) => [step, ...gatesOf(step)].flatMap(({ run }) => run ?? []));
  return [...new Set([...commands, ...last.map(({ run }) => run)])];
}

/** Files whose change voids no receipt: the to-do list, mirrored states, and what gates say they write. */
export function excludedFrom({ todo_path, state_mirror, steps, loops = {} }: Definition): string[] {
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  const written = gates.flatMap(({ writes }) => writes ?? []);
  const mirrored = state_mirror === undefined ? undefined : `${state_mirror}/*/${stateFiles}`;
  return [...[todo_path, mirrored].filter((path) => path !== undefined), ...new Set(written)];
}

/** `state-NAME-20260131_120000.json`, with more before `.json` for a second run, and after it while it is written. */
const stateFiles = 'state-*-????????_??????*';

export const gatesOf = (step: Step | SubStep): Gate[] => [
  ...(step.gate ?? []),
  ...('until' in step ? (step.until ?? []) : []),
  ...('merge_gate' in step ? (step.merge_gate ?? []) : []),
];

import type { Command, Definition, Input, Scalar } from '../../machine/index.ts';

/** The start of a run that is made up. */
export const dryStart = (definition: Definition, inputs: Record<string, Scalar>): Command => ({
  type: 'start',
  now: Date.UTC(2026, 0, 1),
  run: `${definition.name}-dry-run`,
  session: 'agent-1',
  facts: { witness: 'hooks' },
  inputs,
});

/** The default of each input, or a placeholder. */
export const sampleInputs = ({ inputs = {} }: Definition): Record<string, Scalar> =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) => {
      const value = input.default ?? sample(name, input);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** A value with a `pattern` cannot be made up: the start asks for one that is required. */
function sample(name: string, { type, enum: allowed, pattern, required }: Input): Scalar | undefined {
  if (allowed) return allowed[0];
  if (pattern !== undefined && !required) return undefined;
  if (type === 'number') return 1;
  return type === 'boolean' ? false : `<${name}>`;
}

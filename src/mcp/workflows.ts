import type { Definition } from '../machine/index.ts';
import type { Runtime } from '../runtime/index.ts';

export interface OfferedWorkflow {
  name: string;
  description: string;
  inputs: NonNullable<Definition['inputs']>;
}

/** Every workflow that can be started here. */
export async function offeredWorkflows(runtime: Runtime): Promise<OfferedWorkflow[]> {
  const all = await runtime.workflows();
  return all.map(({ name, description, inputs = {} }) => ({ name, description, inputs }));
}

/** `go { task }, bugfix { bug, test? }, keep`. */
export const namedWorkflows = (offered: readonly OfferedWorkflow[]): string =>
  offered.map(({ name, inputs }) => `${name}${inputNames(inputs)}`).join(', ');

function inputNames(inputs: OfferedWorkflow['inputs']): string {
  const names = Object.entries(inputs).map(([name, { required, default: value }]) =>
    required && value === undefined ? name : `${name}?`,
  );
  return names.length === 0 ? '' : ` { ${names.join(', ')} }`;
}

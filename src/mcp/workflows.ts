import { listWorkflows } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import type { Runtime } from '../runtime/index.ts';

export interface OfferedWorkflow {
  name: string;
  description: string;
  inputs: NonNullable<Definition['inputs']>;
}

/** Every workflow that can be started here. */
export function offeredWorkflows(runtime: Runtime): OfferedWorkflow[] {
  return listWorkflows(runtime.searchPath).flatMap(({ name, base, hash, shadowedBy }) => {
    if (base || hash === undefined || shadowedBy !== undefined) return [];
    const { description, inputs = {} } = runtime.resolve(name).definition;
    return [{ name, description, inputs }];
  });
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

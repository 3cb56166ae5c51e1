export * from './condition-context.ts';
export * from './engine.ts';
export * from './homes.ts';
export * from './known-runs.ts';
export * from './new-run-id.ts';
export { prepareFromState } from './prepare-positions.ts';
export * from './remote/remote-engine.ts';
export type * from './remote/wire.ts';
export * from './workflow-state-machine.ts';

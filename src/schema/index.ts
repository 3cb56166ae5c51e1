export * from './api.ts';
export * from './command.ts';
export * from './definition.ts';
export * from './event.ts';
export type * from './grant.ts';
export * from './names.ts';
export type * from './parts.ts';
export type * from './step.ts';
export * from './wire.ts';

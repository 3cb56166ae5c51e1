export * from './drive.ts';
export { takeLease } from './lease.ts';
export { createMergeQueue } from './merge-queue.ts';
export type * from './progress.ts';
export * from './timing.ts';

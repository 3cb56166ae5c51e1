export { openDatabase } from './database.ts';
export { installJobs } from './install.ts';
export { createJobs, type Jobs, type JobsOptions } from './jobs.ts';
export { createRunQueue, type RunQueue, type Taken } from './run-queue.ts';
export { createWebhooks, type WebhookInfo, type Webhooks } from './webhooks/registry.ts';

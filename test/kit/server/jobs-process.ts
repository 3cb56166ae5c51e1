import { createJobs } from '../../../src/jobs/index.ts';

/** One server's jobs in a process of their own, for tests that kill it. */
const url = process.argv[2] ?? '';
const jobs = createJobs({
  url,
  allow: { http: true, privateAddresses: true },
  timing: { poll: 100, supervise: 1000 },
});
await jobs.start();
process.stdout.write('ready\n');
process.on('SIGTERM', async () => {
  const { dispatched } = jobs.health();
  await jobs.stop();
  process.stdout.write(`${dispatched}\n`);
});

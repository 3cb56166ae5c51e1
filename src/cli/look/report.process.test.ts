import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const workflow =
  'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ exists: a.txt }] }\n';
const env = { PATH: process.env.PATH };

test('a report is printed as Markdown or JSON, also of a run that has ended, or written to a file', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const { run } = JSON.parse((await project.run(['start', 'w', '--json'], { env })).stdout);
  await project.run(['advance', 'Done!'], { env });
  project.write({ 'a.txt': '' });
  expect((await project.run(['advance', 'Done, really'], { env })).code).toBe(exit.ok);
  const json = await project.run(['report', '--format', 'json'], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({
    run,
    status: 'complete',
    steps: [{ id: 'a', evidence: 'proven', positions: [{ gates: [{ what: 'a.txt', kind: 'exists' }] }] }],
    false_done: [{ path: 'a', said: 'Done!', red: ['a.txt'] }],
  });
  expect((await project.run(['report', run, '--json'], { env })).stdout).toBe(json.stdout);
  const markdown = await project.run(['report'], { env });
  expect(markdown.stdout).toContain(`\`${run}\``);
  await project.run(['report', run.slice(-8), '-o', 'report.md'], { env });
  expect(readFileSync(join(project.root, 'report.md'), 'utf8')).toBe(markdown.stdout);
});

test('a report as HTML is one file that holds all data, and text of agents cannot end its script', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const summary = '</script><script>alert(1)</script> $& $1';
  const { run } = JSON.parse((await project.run(['start', 'w', '-s', summary, '--json'], { env })).stdout);
  await project.run(['advance', 'Done!'], { env });
  await project.run(['report', '-o', 'report.html'], { env });
  const html = readFileSync(join(project.root, 'report.html'), 'utf8');
  expect(html).not.toContain('<script>alert');
  const json = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? '';
  expect(JSON.parse(json)).toMatchObject({
    page: { row: { run, summary, tone: 'red' }, evidence: [{ pass: false }] },
    workflow: { graph: { name: 'w' } },
    journal: expect.arrayContaining([expect.objectContaining({ seq: 1 })]),
  });
  expect((await project.run(['report', '--format', 'html'], { env })).stdout.length).toBeGreaterThan(100_000);
});

test('an unknown format, file or run is an error', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const code = async (...args: string[]): Promise<number> =>
    (await project.run(['report', ...args], { env })).code;
  expect(await code('nope')).toBe(exit.notFound);
  await project.run(['start', 'w'], { env });
  expect(await code('--format', 'pdf')).toBe(exit.usage);
  expect(await code('--output', 'no/such/folder/report.md')).toBe(exit.notFound);
});

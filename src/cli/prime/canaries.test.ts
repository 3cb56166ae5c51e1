import { expect, test } from 'vitest';
import { createCanaries } from '../../../test/kit/canaries.ts';
import { createTestFolder } from '../../testing/index.ts';

const canaries = createCanaries(200, 7);
const leaks = (shown: string): string[] =>
  canaries
    .filter(({ parts }) =>
      parts.some((part) => shown.includes(part) || shown.includes(JSON.stringify(part).slice(1, -1))),
    )
    .map(({ format }) => format);

test('of 200 made-up secrets in files and in what a run was told, none is in a briefing, a log or an error', async () => {
  const perFile = 20;
  const files = Array.from({ length: canaries.length / perFile }, (_, index) => ({
    id: `part-${index}`,
    path: `docs/part-${index}.md`,
    text: canaries
      .slice(index * perFile, (index + 1) * perFile)
      .map(({ text }) => `Some words.\n\n${text}\n`)
      .join('\n'),
  }));
  const artifacts = files
    .map(({ id, path }) => `    - { id: ${id}, type: markdown, path: ${path} }\n`)
    .join('');
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml': `name: w\ndescription: x\ncritical_artifacts:\n  always_load:\n${artifacts}    - { id: broken, type: json, path: broken.json, required: true }\nloops:\n  build: [{ id: code, instructions: Code it. }]\nsteps:\n  - { id: build, type: loop }\n`,
    ...Object.fromEntries(files.map(({ path, text }) => [path, text])),
    'broken.json': `{"text": ${JSON.stringify(canaries[0]?.text)}, oops`,
  });
  const now = 1_800_000_000_000;
  const agent = { env: { PATH: process.env.PATH, STEPFAST_SESSION: 's' }, now: () => now };
  const run = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr } = await project.run(argv, agent);
    return stdout + stderr;
  };
  await run('start', 'w');
  await run('todo', canaries.map(({ text }) => `- [ ] ${text}`).join('\n'));
  for (const { text } of canaries)
    await run('note', ...(text.length < 300 ? ['artefact', text] : ['artefact', 'long']));
  await run('note', 'decision', `Use ${canaries[3]?.text}`.slice(0, 390));
  await run(
    'tasks',
    'build',
    // A title is one line, and what is known only by its lines is no title.
    ...canaries.flatMap(({ text }) => (text.includes('\n') || text.length > 180 ? [] : [text])).slice(0, 50),
  );
  const shown = [
    await run('advance', canaries.map(({ text }) => text).join('\n\n')),
    await run('prime'),
    await run('prime', '--json'),
    await run('prime', '--budget', '60000'),
    await run('resume', '--markdown'),
    ...(await Promise.all(files.map(({ id }) => run('prime', '--artifacts', id)))),
    await run('prime', '--artifacts', 'broken'),
    ...(await Promise.all(
      ['status', 'instructions', 'notes', 'done', 'reading', 'artifacts', 'tasks', 'todo', 'outputs'].map(
        (section) => run('prime', '--section', section),
      ),
    )),
    await run('log'),
    await run('log', '--json'),
  ];
  expect(shown.join('\n').length).toBeGreaterThan(20_000);
  expect(shown.flatMap(leaks)).toEqual([]);
});

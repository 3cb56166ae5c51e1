/** `examples/overnight` to its end: what its README and its report show is what happens. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsIn, missingLine } from '../../kit/console-blocks.ts';
import { createDriverStage } from '../../kit/driver-run.ts';
import { overnightDirectory, overnightFiles, overnightReport, scriptOvernight } from '../../kit/overnight.ts';

const readme = readFileSync(join(overnightDirectory, 'README.md'), 'utf8');

test('the overnight example completes, with one false report of completion and one conflict', async () => {
  await using stage = await createDriverStage(overnightFiles(), { workflow: 'overnight' });
  const { model, git } = stage;
  stage.env.TERM = 'xterm';
  scriptOvernight(model, { events: stage.events });
  const { code, stdout, stderr } = await stage.drive(['overnight', '--no-wait']);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(model.unmatched().filter(({ kind }) => kind === 'main')).toEqual([]);
  expect(model.left()).toBe(0);

  const events = await stage.events();
  const merges = events.filter(({ type }) => type.startsWith('merge.f'));
  expect(merges).toMatchObject([
    { type: 'merge.finished', task: expect.stringContaining('negative') },
    { type: 'merge.failed', task: expect.stringContaining('discount'), why: 'conflict', files: ['cart.js'] },
    { type: 'merge.finished', task: expect.stringContaining('discount') },
    { type: 'merge.finished', task: expect.stringContaining('currency') },
  ]);
  const red = events.flatMap((event) =>
    event.type === 'gates.finished'
      ? event.receipts.filter(({ pass, role }) => !pass && role === 'gate')
      : [],
  );
  expect(red).toMatchObject([{ what: 'npm test', before: 'fail' }]);

  // The checkout of the person is untouched, and the branch has all of the work.
  expect(git('status', '--porcelain', '--untracked-files=no')).toBe('');
  expect(git('rev-list', '--count', 'HEAD')).toBe('1');
  const { branch = '' } = (await stage.run())?.state ?? {};
  expect(git('ls-tree', '--name-only', branch).split('\n')).toEqual(
    expect.arrayContaining(['CHANGELOG.md', 'currency.js', 'discount.test.js', 'negative.test.js']),
  );

  const [shown] = commandsIn(readme);
  expect(shown && missingLine(shown, stdout), stdout).toBeUndefined();
  await expect(overnightReport(stage.stepfast('report'))).toMatchFileSnapshot(
    join(overnightDirectory, 'report.md'),
  );
});

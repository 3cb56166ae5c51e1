/** `stepfast report --format html`, opened from the disk as someone who got it would. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../../../src/testing/index.ts';
import { browserProgram, sharedBrowser } from '../../kit/browser.ts';
import { axe, expectAccessible } from '../../kit/dashboard/axe.ts';

const it = test.skipIf(browserProgram === undefined);
const markup = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=1</script>';
const workflow = `name: feature
description: Plan it, build it in tasks
loops: { build: [{ id: code, title: Write it, instructions: Write the code. }] }
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it., gate: [{ run: sh check.sh }], review: { by: human } }
  - { id: build, type: loop, title: Build }
`;

let project: TestProject;
let page: Page;
const requests: string[] = [];
const problems: string[] = [];

beforeAll(async () => {
  if (browserProgram === undefined) return;
  project = createTestProject({
    '.stepfast/workflows/feature.yaml': workflow,
    'check.sh': 'echo "FAIL src/add.test.ts > adds"; test -f good\n',
  });
  project.trust('feature');
  const runtime = project.runtime();
  const session = { session: 'one' };
  const { reply, run = '' } = await runtime.start(
    { workflow: 'feature', summary: `Dark mode ${markup}` },
    session,
  );
  const at = 'at' in reply ? reply.at : undefined;
  await runtime.call({ type: 'note', kind: 'decision', text: `Three colors ${markup}` }, session, { run });
  await runtime.call({ type: 'advance', output: `Planned ${markup}`, at }, session, { run, waitMs: 60_000 });
  expect((await project.run(['report', '-o', 'report.html'])).code).toBe(0);
  const browser = await sharedBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, offline: true });
  page.setDefaultTimeout(120_000);
  await page.addInitScript(axe);
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(pathToFileURL(join(project.root, 'report.html')).href);
});
afterAll(async () => {
  await page?.context().close();
  project?.[Symbol.dispose]();
});

it('shows the run with its evidence, log, notes, workflow, journal and briefing, without a server', async () => {
  await page.getByRole('heading', { level: 1 }).getByText('Dark mode').waitFor();
  await page.getByText('FAIL src/add.test.ts > adds').first().waitFor();
  await page.getByText('Three colors').first().waitFor();
  for (const part of ['Journal', 'Briefing', 'Workflow'])
    await page.getByRole('navigation').getByText(part).first().click();
  await page.getByText('Write the code.').first().waitFor();
  expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
  expect(requests).toHaveLength(1);
  expect(problems).toEqual([]);
});

it('decides nothing, and runs nothing that an agent wrote', async () => {
  expect(await page.evaluate('window.pwned')).toBeUndefined();
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.getByRole('button', { name: /approve|cancel the run|actions/i }).count()).toBe(0);
  expect(await page.locator('a[href^="/"]').count()).toBe(0);
});

it('has no violation of accessibility rules, light and dark, wide and narrow', async () => {
  await expectAccessible(page, 'the report');
});

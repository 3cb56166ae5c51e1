/** Every decision that the dashboard offers, made in a real browser over files. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canOpenDashboard, sharedBrowser } from '../../kit/browser.ts';
import { axe, expectAccessible } from '../../kit/dashboard/axe.ts';
import { type FileSite, openFileSite } from '../../kit/dashboard/site.ts';
import { definitions, type Played, situations } from '../../kit/dashboard/situations.ts';
import { type Action, actions } from './actions.ts';
import { expectConsequence, fillDecision, openDecision } from './perform.ts';

describe.skipIf(!canOpenDashboard)('over files', () => {
  let site: FileSite;
  let page: Page;
  let problems: string[] = [];

  beforeAll(async () => {
    site = await openFileSite({}, definitions);
    page = await site.enter(await sharedBrowser());
    await page.addInitScript(axe);
    page.on('pageerror', (error) => problems.push(String(error)));
  });
  afterAll(async () => {
    await page?.context().close();
    await site?.[Symbol.asyncDispose]();
  });

  const open = async (action: Action): Promise<{ played: Played; form: ReturnType<Page['locator']> }> => {
    problems = [];
    const played = await situations[action.in](site.engine, action.does);
    await page.goto(`${site.url}/runs/${played.run}`);
    return { played, form: await openDecision(page, action) };
  };

  test.for(actions.map((action) => [action.does, action] as const))(
    'a person %s, in an accessible dialog',
    async ([, action]) => {
      const { played, form } = await open(action);
      await fillDecision(form, action);
      await expectConsequence(form);
      await expectAccessible(page, action.does);
      await form.getByRole('button', { name: action.send }).click();
      await form.waitFor({ state: 'hidden' });
      await expect.poll(async () => action.of(await played.state())).toEqual(action.becomes);
      expect(problems).toEqual([]);
    },
  );

  test('work cannot be sent back without words', async () => {
    const action = actions.find(({ does }) => does === 'sends work back with words') ?? expect.unreachable();
    const { form } = await open(action);
    await form.getByRole('group').getByText('Send back', { exact: true }).click();
    expect(await form.getByRole('button', { name: action.send }).isDisabled()).toBe(true);
  });

  /** With what the page does not yet know: its stream and its answers stay away. */
  const late = actions.filter(({ does }) =>
    ['sends work back with words', 'answers a question', 'sends back what is blocked'].includes(does),
  );
  test.each(late.map((action) => [action.does, action] as const))(
    'a person who %s too late is told so and keeps the words',
    async (_name, action) => {
      const { played, form } = await open(action);
      await fillDecision(form, action);
      await page.route('**/v1/runs/*/page', (route) => route.abort());
      await played.person({ type: 'rewind', to: 'think' });
      const before = await played.state();
      await form.getByRole('button', { name: action.send }).click();
      expect((await form.getByRole('alert').textContent())?.length).toBeGreaterThan(10);
      expect(await form.getByRole('textbox').inputValue()).toBe(Object.values(action.type ?? {})[0]);
      expect(await played.state()).toEqual(before);
      await page.unroute('**/v1/runs/*/page');
      expect(problems).toEqual([]);
    },
  );

  test.each(late.map((action) => [action.does, action] as const))(
    'words of a person who %s stay when the run moves on meanwhile',
    async (_name, action) => {
      const { played, form } = await open(action);
      await fillDecision(form, action);
      const known = page.waitForResponse((answer) => answer.url().endsWith(`/v1/runs/${played.run}/page`));
      await played.person({ type: 'rewind', to: 'think' });
      await (await known).finished();
      // What the page learns, it has shown after two frames.
      await page.evaluate('new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))');
      expect(await form.getByRole('textbox').inputValue()).toBe(Object.values(action.type ?? {})[0]);
      await form.getByRole('button', { name: action.send }).click();
      await form.getByRole('alert').waitFor();
      expect((await played.state()).step).toBe('think');
      expect(problems).toEqual([]);
    },
  );
});

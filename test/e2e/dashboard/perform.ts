import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Action } from './actions.ts';

/** Where a decision is made: the page of a review, or a dialog over the run. */
export async function openDecision(page: Page, { open }: Pick<Action, 'open'>): Promise<Locator> {
  if ('menu' in open) {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.locator('[popover]').getByRole('button', { name: open.menu }).click();
  } else {
    const banner = page.getByRole('region', { name: 'Needs you' });
    await banner.getByRole('link', { name: open.need }).click();
  }
  const form = page
    .locator('form')
    .filter({ has: page.locator('[type=submit]'), hasNot: page.locator('#passphrase') });
  await form.waitFor();
  return form;
}

/** Chooses, selects and types. */
export async function fillDecision(form: Locator, action: Action): Promise<void> {
  const { choose, select = {}, type = {} } = action;
  if (choose !== undefined) await form.getByRole('group').getByText(choose, { exact: true }).click();
  for (const [label, value] of Object.entries(select))
    await form.getByRole('combobox', { name: label }).selectOption(value);
  for (const [label, text] of Object.entries(type))
    await form.getByLabel(label, { exact: false }).and(form.locator('textarea, input')).first().fill(text);
}

/** Says what it does before it is sent. */
export async function expectConsequence(form: Locator): Promise<void> {
  const said = (await form.getByRole('status').allTextContents()).join(' ').trim();
  expect(said.length).toBeGreaterThan(15);
}

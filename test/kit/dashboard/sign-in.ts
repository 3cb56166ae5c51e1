import type { Page } from 'playwright-core';
import { passphrase } from '../server/person.ts';

/** A page that asks for the passphrase gets it at once, for tests of what is decided. */
export const answerPassphrase = (page: Page): Promise<unknown> =>
  page.addInitScript(`new MutationObserver(() => {
    const field = document.querySelector('dialog #passphrase');
    if (!field || field.value) return;
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    set.call(field, ${JSON.stringify(passphrase)});
    field.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => field.form.requestSubmit());
  }).observe(document, { childList: true, subtree: true });`);

export async function signInTo(
  page: Page,
  { project, name }: { project: string; name: string },
  words = passphrase,
): Promise<void> {
  await page.getByLabel('Project').fill(project);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(words);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

import type { Page } from 'playwright-core';
import { passphrase } from '../../e2e/server/person-kit.ts';

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

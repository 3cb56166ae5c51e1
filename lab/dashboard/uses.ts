/** What a person does with a list of runs and with a long run. */
import type { Page } from 'playwright-core';
import { settle } from './main-thread.ts';

export type Uses = Readonly<Record<string, (page: Page) => Promise<void>>>;

async function wheel(page: Page, turns: number, by: number): Promise<void> {
  await page.mouse.move(640, 600);
  for (let turn = 0; turn < turns; turn += 1) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(16);
  }
}

export const listUses: Uses = {
  scrolled: (page) => wheel(page, 25, 900),
  /** To the middle, the end and back. A scroll bar has no element: the page sees a new position in each frame. */
  async dragged(page) {
    await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('main');
      const end = box.scrollHeight - box.clientHeight;
      const stops = [0, end / 2, end, 0];
      let frame = 0;
      const move = () => {
        const leg = Math.floor(frame / 30);
        if (leg >= 3) return resolve();
        box.scrollTop = stops[leg] + ((stops[leg + 1] - stops[leg]) * ((frame % 30) + 1)) / 30;
        frame += 1;
        requestAnimationFrame(move);
      };
      move();
    })`);
  },
  async 'jumped with keys'(page) {
    const keys = ['End', 'Home', 'PageDown', 'PageDown', 'PageUp', ...Array(20).fill('j'), 'End', 'Home'];
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(30);
    }
  },
  async searched(page) {
    const field = page.getByRole('searchbox', { name: 'Filter runs' });
    await field.fill('');
    await field.pressSequentially('tax cart 1', { delay: 40 });
    await settle(page, 500);
    await field.fill('');
    await settle(page, 400);
  },
  async filtered(page) {
    const views = page.getByRole('navigation', { name: 'Views' });
    for (const name of [/^Red/, /^Complete/, /^All/]) {
      await views.getByRole('button', { name }).click();
      await settle(page, 250);
    }
  },
};

const part = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Parts of the run' }).getByText(name, { exact: true }).click();
};

export const longRunUses: Uses = {
  async opened(page) {
    await page.reload();
    await page.getByText('Move the articles of part 0').first().waitFor();
    await settle(page, 1000);
  },
  async scrolled(page) {
    await wheel(page, 20, 1500);
    await page.evaluate("document.querySelector('main').scrollTop = 0");
  },
  async steps(page) {
    for (const step of await page.locator('ol button[aria-pressed]').all()) await step.click();
    await page.locator('ol button[aria-pressed]').nth(1).click();
  },
  async journal(page) {
    await part(page, 'Journal');
    const filter = page.getByRole('searchbox', { name: 'Filter the journal' });
    await filter.waitFor();
    await page.locator('section[aria-labelledby=journal] li').first().waitFor();
    await filter.pressSequentially('round 12', { delay: 30 });
    await settle(page, 300);
    await part(page, 'Run');
  },
  async briefing(page) {
    await part(page, 'Briefing');
    await page.getByRole('region', { name: 'Text of the briefing' }).waitFor();
    await part(page, 'Run');
  },
  async log(page) {
    const gates = page.locator('table button');
    for (const index of [0, 5, 1]) if ((await gates.count()) > index) await gates.nth(index).click();
  },
};

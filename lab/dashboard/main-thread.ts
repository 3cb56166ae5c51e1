import type { CDPSession, Page } from 'playwright-core';

export const settle = (page: Page, ms = 500): Promise<void> => page.waitForTimeout(ms);

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds of the thread's processor time. */
  tdur?: number;
  args?: { name?: string };
}

/**
 * The longest that a page doesn't answer while someone does this, as processor time of its longest task: other programs
 * on the machine don't count. The least of some tries, because collections of garbage come at any time.
 */
export async function longestDuring(page: Page, act: () => Promise<void>, tries: number): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser.');
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries; count += 1) {
    await settle(page);
    await browser.startTracing(page, { categories: ['toplevel'] });
    let trace: Buffer;
    try {
      await act();
      await settle(page);
    } finally {
      trace = await browser.stopTracing();
    }
    const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
    least = Math.min(least, longestTask(traceEvents));
  }
  return least;
}

function longestTask(events: readonly TraceEvent[]): number {
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const names = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const mains = new Set(names.map(threadOf));
  const tasks = events.filter(
    (event) => event.name === 'ThreadControllerImpl::RunTask' && mains.has(threadOf(event)),
  );
  if (tasks.length === 0) throw new Error('The browser reported no tasks.');
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

export async function slowDown(session: CDPSession, rate: number): Promise<void> {
  await session.send('Emulation.setCPUThrottlingRate', { rate });
}

/** Resolves when this is in sight and the page has answered since: milliseconds after the page was asked for. */
export async function interactiveAfter(page: Page, url: string, selector: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' });
  return await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      const found = document.querySelector(${JSON.stringify(selector)});
      if (!found || found.getBoundingClientRect().width === 0) return requestAnimationFrame(look);
      const channel = new MessageChannel();
      // Behind all that the page has planned by then.
      channel.port1.onmessage = () => setTimeout(() => resolve(performance.now()), 0);
      requestAnimationFrame(() => channel.port2.postMessage(0));
    };
    look();
  })`);
}

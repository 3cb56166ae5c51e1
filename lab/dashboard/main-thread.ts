import type { CDPSession, Page } from 'playwright-core';

/** Long tasks and slow event handlers as the page sees them, from its beginning on. */
export const watchMainThread = `(() => {
  const longest = { ms: 0 };
  window.mainThread = longest;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { processingStart, processingEnd } of list.getEntries())
      longest.ms = Math.max(longest.ms, processingEnd - processingStart);
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
})()`;

const settleMs = 500;
export const settle = (page: Page, ms = settleMs): Promise<void> => page.waitForTimeout(ms);

/** The longest that a page does not answer. */
export interface Longest {
  /** Processor time of the longest task: other programs on the machine do not count. */
  busy: number;
  /** The longest task or event handler by the clock of the page. */
  clock: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds of the thread's processor time. */
  tdur?: number;
  args?: { name?: string };
}

/** While someone does this. The least of some tries, because collections of garbage come at any time. */
export async function longestDuring(page: Page, act: () => Promise<void>, tries = 3): Promise<Longest> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser.');
  const all: Longest[] = [];
  for (let count = 0; count < tries; count += 1) {
    await settle(page);
    await page.evaluate('window.mainThread && (window.mainThread.ms = 0)');
    await browser.startTracing(page, { categories: ['toplevel'] });
    let trace: Buffer;
    try {
      await act();
      await settle(page);
    } finally {
      trace = await browser.stopTracing();
    }
    const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
    all.push({
      busy: longestTask(traceEvents),
      clock: await page.evaluate<number>('window.mainThread?.ms ?? NaN'),
    });
  }
  return {
    busy: Math.min(...all.map(({ busy }) => busy)),
    clock: Math.min(...all.map(({ clock }) => clock)),
  };
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

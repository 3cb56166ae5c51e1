import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from 'react';

export interface RowWindow {
  first: number;
  last: number;
  /** False while rows move fast: nothing is fetched then. */
  isSettled: boolean;
  show(index: number): void;
}

interface Options {
  count: number;
  height: number;
  /** Rows beyond the edges. */
  over?: number;
  /** Height of what sticks to the top of the scroller. */
  inset?: number;
}

const settleMs = 90;

/** Which of many rows of equal height are in sight. */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  body: RefObject<HTMLElement | null>,
  { count, height, over = 10, inset = 0 }: Options,
): RowWindow {
  const [range, setRange] = useState({ first: 0, last: Math.min(count, 30) });
  const [isSettled, setSettled] = useState(true);

  const measure = useCallback(() => {
    const box = scroller.current;
    const list = body.current;
    if (!box || !list) return;
    const top = box.getBoundingClientRect().top - list.getBoundingClientRect().top;
    // In steps of four: most scroll events change nothing.
    const from = Math.max(0, Math.floor(top / height / 4) * 4 - over);
    const last = Math.max(0, Math.min(count, Math.ceil((top + box.clientHeight) / height / 4) * 4 + over));
    const first = Math.min(from, Math.max(0, count - 1));
    setRange((old) => (old.first === first && old.last === last ? old : { first, last }));
  }, [scroller, body, count, height, over]);

  useLayoutEffect(measure, [measure]);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    let frame = 0;
    let timer = 0;
    let lastTop = box.scrollTop;
    const onScroll = (): void => {
      if (Math.abs(box.scrollTop - lastTop) > box.clientHeight / 2) setSettled(false);
      lastTop = box.scrollTop;
      clearTimeout(timer);
      timer = window.setTimeout(() => setSettled(true), settleMs);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        measure();
      });
    };
    box.addEventListener('scroll', onScroll, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => {
      box.removeEventListener('scroll', onScroll);
      observer.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [scroller, measure]);

  const show = useCallback(
    (index: number) => {
      const box = scroller.current;
      const list = body.current;
      if (!box || !list) return;
      const start = list.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
      const top = start + index * height;
      if (top - inset < box.scrollTop) box.scrollTop = index === 0 ? 0 : top - inset;
      else if (top + height > box.scrollTop + box.clientHeight)
        box.scrollTop = top + height - box.clientHeight;
    },
    [scroller, body, height, inset],
  );
  return { ...range, isSettled, show };
}

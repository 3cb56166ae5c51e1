import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

let isFixed = false;

/** In a report nothing moves: times are shown as they were, and it is always the time when it was made. */
export function fixTime(time: number): void {
  now = time;
  isFixed = true;
}

/** One clock for every relative time; it stops while the tab is hidden. */
function subscribe(listener: () => void): () => void {
  if (isFixed) return () => undefined;
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Changes only when the words do, so that an old row does not render every second. */
export const useAgo = (time: number): string =>
  useSyncExternalStore(subscribe, () => (isFixed ? momentText(time) : ago(now - time)));

/** How long something waits. In two units: whoever lets an agent wait wants to know it better than `1 h`. */
export const useWait = (since: number): string =>
  useSyncExternalStore(subscribe, () => durationText(Math.max(0, now - since)));

/** In a sentence: `3 min ago`. */
export function useAgoText(time: number): string {
  const text = useAgo(time);
  return isFixed || text === 'now' ? text : `${text} ago`;
}

/** To the minute, so that a chart does not render every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => Math.floor(now / 60_000) * 60_000);

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** One unit: enough to compare, and equally wide in every row. */
function ago(ms: number): string {
  const s = Math.floor(ms / 1000);
  if (s < 2) return 'now';
  if (s < minute) return `${s} s`;
  if (s < hour) return `${Math.floor(s / minute)} min`;
  return s < day ? `${Math.floor(s / hour)} h` : days(Math.floor(s / day));
}

function days(d: number): string {
  if (d < 14) return `${d} d`;
  if (d < 60) return `${Math.floor(d / 7)} wk`;
  return d < 700 ? `${Math.floor(d / 30)} mo` : `${Math.floor(d / 365)} y`;
}

export function durationText(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < minute) return `${s} s`;
  if (s < hour) return `${Math.floor(s / minute)} min`;
  const h = Math.floor(s / hour);
  const m = Math.floor((s % hour) / minute);
  if (h < 24) return m === 0 || h > 9 ? `${h} h` : `${h} h ${m} min`;
  const d = Math.floor(h / 24);
  return d > 2 || h % 24 === 0 ? days(d) : `${d} d ${h % 24} h`;
}

export function tookText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1000)} s`;
}

let formatter: Intl.DateTimeFormat | undefined;

/** Creating a formatter takes 20 ms and more: none is created before the pointer is on a time. */
function exactTime(time: number): string {
  formatter ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return formatter.format(time);
}

export const exactOnHover = (time: number, prefix = '') => ({
  onPointerEnter: ({ currentTarget }: { currentTarget: HTMLElement }) => {
    currentTarget.title = prefix + exactTime(time);
  },
});

const twoDigits = (n: number): string => String(n).padStart(2, '0');

export function clockTime(time: number): string {
  const date = new Date(time);
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** `Nov 17 12:40` */
const momentText = (time: number): string => `${dayText(time).slice(4)} ${clockTime(time)}`;

/** `Nov 17, 2026` */
export const dateText = (time: number): string => {
  const [, month, day, year] = new Date(time).toDateString().split(' ');
  return `${month} ${day}, ${year}`;
};

export const dayText = (time: number): string => new Date(time).toDateString().slice(0, 10);

export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

export function compact(n: number): string {
  if (n < 1000) return String(n);
  return n < 1_000_000 ? `${Math.round(n / 1000)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

import { type RefObject, useEffect, useRef } from 'react';

type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Keys of the page come before those that work everywhere. */
type Level = 'page' | 'app';

const registered = new Map<RefObject<Keys>, Level>();
let lastKey = '';
let lastAt = 0;
const pairMs = 900;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** One listener for all pages, or each would see half of `g r`. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const isModified = event.metaKey || event.ctrlKey;
  const isModal = document.querySelector('dialog[open]') !== null;
  if (isModal || (!isModified && isTyping(event.target))) return;
  const name = isModified ? `mod+${event.key.toLowerCase()}` : event.key;
  const pair = event.timeStamp - lastAt < pairMs ? `${lastKey} ${event.key}` : '';
  lastKey = event.key;
  lastAt = event.timeStamp;
  // The component that registered last is the most specific one.
  const keysAt = (level: Level): Keys[] =>
    [...registered]
      .filter(([, its]) => its === level)
      .map(([{ current }]) => current)
      .reverse();
  const nearest = [...keysAt('page'), ...keysAt('app')];
  const found = nearest.find((keys) => keys[pair])?.[pair] ?? nearest.find((keys) => keys[name])?.[name];
  if (!found) return;
  event.preventDefault();
  found(event);
}

/** `j`, `mod+k`, `g r`. Not while a dialog is open; keys without a modifier not while a person types. */
export function useKeys(keys: Keys, isOn = true, level: Level = 'page'): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!isOn) return;
    if (registered.size === 0) addEventListener('keydown', onKeyDown);
    registered.set(latest, level);
    return () => {
      registered.delete(latest);
      if (registered.size === 0) removeEventListener('keydown', onKeyDown);
    };
  }, [isOn, level]);
}

const isMac = /Mac|iP(hone|ad)/.test(navigator.userAgent);
export const modKey = isMac ? '⌘' : 'Ctrl';

import { type JSX, useSyncExternalStore } from 'react';
import ui from './ui.module.css';

let shown: { id: number; text: string }[] = [];
let nextId = 0;
const listeners = new Set<() => void>();
const toastMs = 5000;

function show(toasts: typeof shown): void {
  shown = toasts;
  for (const listener of listeners) listener();
}

export function toast(text: string): void {
  const id = nextId++;
  show([...shown, { id, text }]);
  setTimeout(() => show(shown.filter((each) => each.id !== id)), toastMs);
}

export function Toasts(): JSX.Element {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  return (
    <div className={ui.toasts} role="status" aria-live="polite">
      {all.map(({ id, text }) => (
        <div className={ui.toast} key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}

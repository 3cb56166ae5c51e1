import { useSyncExternalStore } from 'react';

const scheme = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const isDark = (): boolean =>
  (document.documentElement.dataset.theme ?? (scheme.matches ? 'dark' : 'light')) === 'dark';

export function toggleTheme(): void {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // Some browsers give none to a file.
  }
  for (const listener of listeners) listener();
}

export const useDark = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    scheme.addEventListener('change', listener);
    return () => {
      listeners.delete(listener);
      scheme.removeEventListener('change', listener);
    };
  }, isDark);

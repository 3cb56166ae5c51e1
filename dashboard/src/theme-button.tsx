import { Moon, Sun } from 'lucide-react';
import type { JSX } from 'react';
import { toggleTheme, useDark } from './theme.ts';
import { classNames } from './ui/class-names.ts';
import ui from './ui/ui.module.css';

export function ThemeButton({ className }: { className?: string | undefined }): JSX.Element {
  const isDark = useDark();
  return (
    <button
      type="button"
      className={classNames(ui.btn, ui.ghost, ui.icon, className)}
      onClick={toggleTheme}
      aria-label={isDark ? 'Light theme' : 'Dark theme'}
    >
      {isDark ? <Sun size={16} aria-hidden="true" /> : <Moon size={16} aria-hidden="true" />}
    </button>
  );
}

import type { JSX } from 'react';
import type { Mark } from './marks.ts';
import ui from './ui.module.css';

const labels: Record<Mark, string> = {
  working: 'Working',
  person: 'Needs a person',
  red: 'Red',
  green: 'Green',
  stale: 'Stale',
  failed: 'Failed',
  ahead: 'Not reached',
  off: 'Off',
};

const cut = {
  stroke: 'var(--glyph-cut, var(--surface))',
  strokeWidth: 1.7,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
  fill: 'none',
} as const;

const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.6, strokeLinecap: 'round' } as const;

const shapes: Record<Mark, JSX.Element> = {
  working: (
    <>
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.8" opacity=".25" />
      <path className={ui.spin} d="M8 2a6 6 0 0 1 6 6" {...line} strokeWidth={1.8} />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <circle cx="8" cy="6.1" r="1.9" fill="var(--glyph-cut, var(--surface))" />
      <path d="M4.4 11.9c.5-1.9 1.9-2.9 3.6-2.9s3.1 1 3.6 2.9" fill="var(--glyph-cut, var(--surface))" />
    </>
  ),
  red: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="m5.7 5.7 4.6 4.6m0-4.6-4.6 4.6" {...cut} />
    </>
  ),
  green: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="m5 8.3 2.1 2.1L11.2 6" {...cut} />
    </>
  ),
  stale: (
    <>
      <path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor" stroke="currentColor" strokeLinejoin="round" />
      <path d="M8 4.9V8.2l2.1 1.6" {...cut} />
    </>
  ),
  failed: (
    <>
      <path d="M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z" fill="currentColor" />
      <path d="M8 4.6v4M8 11.2v.1" {...cut} />
    </>
  ),
  ahead: <circle cx="8" cy="8" r="6" {...line} strokeWidth={1.5} strokeDasharray="1.6 2.17" />,
  off: (
    <>
      <circle cx="8" cy="8" r="6.2" {...line} strokeWidth={1.5} />
      <path d="M5.6 8h4.8" {...line} />
    </>
  ),
};

/** A shape for each meaning: color is never the only difference. `label` replaces the usual word for it. */
export function Glyph({
  mark,
  size = 16,
  isQuiet,
  label,
}: {
  mark: Mark;
  size?: number;
  isQuiet?: boolean;
  label?: string;
}): JSX.Element {
  const named = isQuiet
    ? { 'aria-hidden': true as const }
    : { role: 'img', 'aria-label': label ?? labels[mark] };
  return (
    <svg className={ui.glyph} data-mark={mark} width={size} height={size} viewBox="0 0 16 16" {...named}>
      {shapes[mark]}
    </svg>
  );
}

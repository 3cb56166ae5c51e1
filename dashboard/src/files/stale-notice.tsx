import type { JSX, ReactNode } from 'react';
import type { PositionFiles, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import ui from '../ui/ui.module.css';
import css from './files.module.css';

const shownAtFirst = 6;

/** Says that evidence is out of date, and by which files. */
export function StaleNotice({ files, children }: { files: PositionFiles; children: ReactNode }): JSX.Element {
  const { written } = files;
  const rest = written.slice(shownAtFirst);
  return (
    <div className={css.notice} data-mark="stale">
      <Glyph mark="stale" size={18} label="Stale" />
      <div>
        <p>{children}</p>
        {written.length > 0 && (
          <>
            <p className={css.caption}>Written since:</p>
            <Paths paths={written.slice(0, shownAtFirst)} />
          </>
        )}
        {rest.length > 0 && (
          <details>
            <summary>{rest.length === 1 ? '1 more file' : `${rest.length} more files`}</summary>
            <Paths paths={rest} />
          </details>
        )}
      </div>
    </div>
  );
}

/** The files of a position are no longer those that its gates saw. */
export const isStale = ({ validity }: PositionFiles): boolean => validity === 'stale';

interface NoticesProps {
  page: RunPage;
  stale: readonly PositionFiles[];
}

export const StaleNotices = ({ page, stale }: NoticesProps): JSX.Element[] =>
  stale.flatMap((files) => {
    const check = page.evidence.find(({ id }) => id === files.check);
    return check?.pass
      ? [
          <StaleNotice key={files.at} files={files}>
            <strong>{check.title}:</strong> the files are no longer those that the gates saw.
          </StaleNotice>,
        ]
      : [];
  });

const Paths = ({ paths }: { paths: readonly string[] }): JSX.Element => (
  <ul className={classNames(css.paths, ui.mono)}>
    {paths.map((path) => (
      <li key={path}>{path}</li>
    ))}
  </ul>
);

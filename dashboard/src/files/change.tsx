import { type JSX, useState } from 'react';
import type { ChangePage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { shortHash } from '../ui/short-hash.ts';
import { grouped } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './files.module.css';

const shownAtFirst = 8;

/** How much differs from the commit at which the run began. */
export function Change({ change }: { change: ChangePage }): JSX.Element {
  const [isAll, setAll] = useState(false);
  const { commit, files, added, removed, largest } = change;
  const visible = isAll ? largest : largest.slice(0, shownAtFirst);
  const most = Math.max(1, ...largest.map((file) => (file.added ?? 0) + (file.removed ?? 0)));
  return (
    <section className={ui.card} aria-labelledby="change">
      <header className={ui.cardHead}>
        <h2 id="change">The change</h2>
        <span className={ui.muted}>
          since commit <span className={ui.mono}>{shortHash(commit)}</span>
        </span>
      </header>
      <p className={classNames(css.size, ui.num)}>
        <strong>{files === 1 ? '1 file' : `${grouped(files)} files`}</strong>
        <Lines added={added} removed={removed} />
      </p>
      {largest.length > 0 && (
        <ul className={css.largest}>
          {visible.map((file) => (
            <li key={file.path}>
              <span className={classNames(ui.mono, css.path)}>{file.path}</span>
              <span className={css.new}>{file.isNew ? 'new' : ''}</span>
              {file.added === undefined && file.removed === undefined ? (
                // The lines of a file that is not in Git yet are not counted.
                <span className={ui.muted}>{file.isNew ? '' : 'binary'}</span>
              ) : (
                <Lines added={file.added ?? 0} removed={file.removed ?? 0} />
              )}
              <span className={css.bar} aria-hidden="true">
                <i style={{ width: `${(((file.added ?? 0) + (file.removed ?? 0)) / most) * 100}%` }} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {visible.length < largest.length && (
        <button
          type="button"
          className={classNames(ui.btn, ui.ghost, ui.small, css.more)}
          onClick={() => setAll(true)}
        >
          Show {largest.length - visible.length} more
        </button>
      )}
      {isAll && files > largest.length && (
        <p className={css.more}>and {grouped(files - largest.length)} smaller ones</p>
      )}
    </section>
  );
}

const Lines = ({ added, removed }: { added: number; removed: number }): JSX.Element => (
  <span className={classNames(css.lines, ui.num)}>
    <span>
      +{grouped(added)}
      <span className={ui.sr}> lines added, </span>
    </span>
    <span>
      −{grouped(removed)}
      <span className={ui.sr}> removed</span>
    </span>
  </span>
);

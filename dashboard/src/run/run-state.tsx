import type { JSX } from 'react';
import type { Row, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { toneMark, toneWord } from '../ui/marks.ts';
import { exactOnHover, useAgoText } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './run.module.css';

/** The state of a run in one sentence, and what it was started with. */
export function RunState({ page, row }: { page: RunPage; row: Row }): JSX.Element {
  const moved = useAgoText(row.updatedAt);
  const mark = toneMark[row.tone];
  const inputs = Object.entries(page.inputs);
  // The pill has the status.
  const sentence = row.now === row.status ? '' : row.now.replace(`${row.status}: `, '');
  return (
    <>
      <p className={css.now}>
        <span className={ui.pill} data-mark={mark}>
          <Glyph mark={mark} isQuiet size={14} />
          {toneWord(row.tone)}
        </span>
        {sentence && <span className={css.sentence}>{sentence}</span>}
        <span className={classNames(ui.muted, ui.num)} {...exactOnHover(row.updatedAt)}>
          {moved}
        </span>
      </p>
      {inputs.length > 0 && (
        <details className={css.inputs}>
          <summary>Started with {inputs.length === 1 ? '1 input' : `${inputs.length} inputs`}</summary>
          <dl>
            {inputs.map(([name, value]) => (
              <div key={name}>
                <dt className={ui.mono}>{name}</dt>
                <dd className={ui.pre}>{String(value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

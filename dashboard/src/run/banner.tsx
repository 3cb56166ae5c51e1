import type { JSX } from 'react';
import { Link } from 'wouter';
import type { CheckPage, NeedPage } from '../api-types.ts';
import { needDetail, needHref, needKey } from '../decide/needs.ts';
import { ReadOnlyReason } from '../decide/read-only.tsx';
import { classNames } from '../ui/class-names.ts';
import { CopyText } from '../ui/copy.tsx';
import { Glyph } from '../ui/glyph.tsx';
import { exactOnHover, useWait } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import { type Shown, worstIn } from './gate-choice.ts';
import css from './run.module.css';

interface Props {
  run: string;
  needs: NeedPage[];
  mayDecide: boolean;
}

export const Banner = ({ run, needs, mayDecide }: Props): JSX.Element => (
  <section className={css.banner} aria-label="Needs you" data-mark="person">
    {needs.map((need, index) => (
      <NeedLine key={needKey(need)} run={run} need={need} mayDecide={mayDecide} isFirst={index === 0} />
    ))}
    {!mayDecide && (
      <div className={css.reason}>
        <ReadOnlyReason />
      </div>
    )}
  </section>
);

interface RedProps {
  evidence: readonly CheckPage[];
  onShow(gate: Shown): void;
}

/** Which gate is red, and the way to its log. */
export function RedBanner({ evidence, onShow }: RedProps): JSX.Element | null {
  const check = evidence.find(({ isRed }) => isRed);
  const gate = check?.gates.find(({ state }) => state === 'fail');
  if (!check || !gate) return null;
  return (
    <section className={css.banner} aria-label="Red gate" data-mark="red">
      <div className={css.need}>
        <Glyph mark="red" size={18} isQuiet />
        <div>
          <p>
            <strong>
              <span className={ui.mono}>{gate.what}</span> failed
              {gate.exit === undefined ? '' : ` with exit code ${gate.exit}`}
            </strong>
          </p>
          <p>In {check.title}</p>
        </div>
        <button type="button" className={ui.btn} onClick={() => onShow(worstIn(check))}>
          See the log
        </button>
      </div>
    </section>
  );
}

interface LineProps extends Omit<Props, 'needs'> {
  need: NeedPage;
  isFirst: boolean;
}

function NeedLine({ run, need, mayDecide, isFirst }: LineProps): JSX.Element {
  const since = useWait(need.since);
  const key = isFirst ? { 'data-key': 'A', 'aria-keyshortcuts': 'a' } : {};
  // A page cannot clear a context; it can only let the agent go on without.
  const verb = need.kind === 'context' ? 'Continue without' : need.verb;
  return (
    <div className={css.need}>
      <Glyph mark="person" size={18} isQuiet />
      <div>
        <p>
          <strong>{need.say}</strong>
        </p>
        <p className={ui.pre}>{needDetail(need)}</p>
        {!mayDecide && <CopyText text={need.command} />}
      </div>
      <span className={classNames(css.since, ui.num)} {...exactOnHover(need.since)}>
        {since}
      </span>
      {mayDecide && need.kind !== 'queue' && (
        <Link
          className={classNames(
            ui.btn,
            isFirst && need.kind !== 'context' && ui.primary,
            isFirst && ui.keyed,
          )}
          href={needHref(run, need)}
          aria-label={`${verb}: ${need.title}`}
          {...key}
        >
          {verb}
        </Link>
      )}
    </div>
  );
}

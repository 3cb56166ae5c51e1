import { Eraser, FoldVertical } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import type { Card as CardData, CheckText } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { resetWord } from '../ui/marks.ts';
import ui from '../ui/ui.module.css';
import css from './graph.module.css';

/** What happens to the context on the way to a card. */
export const Connection = ({ before }: { before: CardData['before'] | undefined }): JSX.Element => (
  <div className={css.connection}>
    {before && (
      <span className={classNames(css.reset, ui.mono)}>
        <span className={ui.sr}>Before it: </span>
        {before.command === '/clear' ? (
          <Eraser size={12} aria-hidden="true" />
        ) : (
          <FoldVertical size={12} aria-hidden="true" />
        )}
        {before.command}
        <span className={css.each}>{resetWord[before.command === '/clear' ? 'clear' : 'compact']}</span>
        {before.eachRound && <span className={css.each}>each round</span>}
      </span>
    )}
  </div>
);

/** The first line of what is to be done: a command, or words. */
export function About({ about }: Pick<CardData, 'about'>): JSX.Element | null {
  if (about === '') return null;
  if (about.startsWith('$ ')) return <p className={classNames(css.about, ui.mono)}>{about}</p>;
  return <p className={css.about}>{about}</p>;
}

export function Flags({ agent, artefacts, readOnly }: CardData): JSX.Element {
  return (
    <>
      {agent !== undefined && (
        <span className={css.agent}>
          <span className={ui.sr}>agent </span>
          {agent}
        </span>
      )}
      {readOnly && <span className={css.flag}>read-only</span>}
      {artefacts && (
        <span className={css.flag} title="The agent names the files it produced.">
          artifacts
        </span>
      )}
    </>
  );
}

export const Rule = ({ name, children }: { name: string; children: ReactNode }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** What a step and a sub-step have in common. */
export function CommonRules({ when, gates, failure }: CardData): JSX.Element {
  return (
    <>
      {when !== undefined && (
        <Rule name="Only if">
          <code>{when}</code>
        </Rule>
      )}
      {gates.length > 0 && (
        <Rule name={gates.length === 1 ? 'Gate' : 'Gates'}>
          <Checks checks={gates} />
        </Rule>
      )}
      {failure !== undefined && <Rule name="On failure">{failure}</Rule>}
    </>
  );
}

export const Checks = ({ checks }: { checks: readonly CheckText[] }): JSX.Element => (
  <ul className={css.checks}>
    {checks.map(({ code, text }) => (
      <li key={text}>{code ? <code>{text}</code> : text}</li>
    ))}
  </ul>
);

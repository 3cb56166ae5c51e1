import { useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useRef, useState } from 'react';
import { briefingQuery } from '../api/client.ts';
import { classNames } from '../ui/class-names.ts';
import { grouped } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './journal.module.css';

/** What an agent is told after a loss of context. */
export default function Briefing({ run }: { run: string }): JSX.Element {
  const { data, error } = useQuery(briefingQuery(run));
  const [chosen, setChosen] = useState(-1);
  const marked = useRef<HTMLElement>(null);
  useEffect(() => {
    if (chosen >= 0) marked.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  if (!data)
    return <section className={ui.card}>{error && <p className={ui.empty}>{error.message}</p>}</section>;
  const { text, tokens, parts } = data;
  const part = parts[chosen];
  const toggle = (index: number): void => setChosen(index === chosen ? -1 : index);
  return (
    <section className={ui.card} aria-labelledby="briefing">
      <header className={ui.cardHead}>
        <h2 id="briefing">Briefing</h2>
        <span className={classNames(ui.muted, ui.num)}>{grouped(tokens)} tokens</span>
      </header>
      <div className={css.briefing}>
        <p className={ui.soft}>What the agent is told after its context was cleared or compacted.</p>
        <div className={css.bar} aria-hidden="true">
          {parts.map(({ title, tokens: share, from }, index) => (
            <button
              key={from}
              type="button"
              tabIndex={-1}
              title={`${title}: ${grouped(share)} tokens`}
              aria-pressed={index === chosen}
              style={{ flexGrow: share }}
              onClick={() => toggle(index)}
            />
          ))}
        </div>
        <div className={css.columns}>
          <ul className={css.parts}>
            {parts.map(({ title, tokens: share, from }, index) => (
              <li key={from}>
                <button type="button" aria-pressed={index === chosen} onClick={() => toggle(index)}>
                  <span className={ui.cut}>{title}</span>
                  <span className={ui.num}>{grouped(share)}</span>
                </button>
              </li>
            ))}
          </ul>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <pre className={css.words} tabIndex={0} role="region" aria-label="Text of the briefing">
            {part ? (
              <>
                {text.slice(0, part.from)}
                <mark ref={marked}>{text.slice(part.from, part.to)}</mark>
                {text.slice(part.to)}
              </>
            ) : (
              text
            )}
          </pre>
        </div>
      </div>
    </section>
  );
}

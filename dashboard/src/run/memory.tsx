import type { JSX, ReactNode } from 'react';
import type { NotePage, RunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { exactOnHover, useAgo } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './memory.module.css';

/** What the next session knows although its context is new. */
export function Memory({ page }: { page: RunPage }): JSX.Element {
  const { notes, questions, decisions } = page;
  const kinds = [...new Set(notes.map(({ kind }) => kind))];
  const count = notes.length + questions.length + decisions.length;
  return (
    <section className={ui.card} aria-labelledby="memory">
      <header className={ui.cardHead}>
        <h2 id="memory">Kept for the next session</h2>
        <span className={classNames(ui.muted, ui.num)}>{count}</span>
      </header>
      {count === 0 && <p className={css.none}>Nothing yet: no notes, questions or decisions.</p>}
      {kinds.map((kind) => (
        <Group key={kind} name={kindText(kind)}>
          {notes
            .filter((note) => note.kind === kind)
            .map((note) => (
              <Item key={note.id} now={note.now} about={note.key}>
                <p className={ui.pre}>{note.text}</p>
              </Item>
            ))}
        </Group>
      ))}
      {questions.length > 0 && (
        <Group name="Questions">
          {questions.map(({ id, path, text, askedAt, answer, by, answeredAt }) => (
            <Item key={id} about={path} now={askedAt}>
              <p className={ui.pre}>{text}</p>
              {answer === undefined ? (
                <p className={css.open}>
                  <Glyph mark="person" size={13} isQuiet /> Not answered yet
                </p>
              ) : (
                <>
                  <p className={classNames(ui.soft, ui.pre)}>{answer}</p>
                  <p className={css.answered}>
                    Answered{by === undefined ? '' : ` by ${by}`}
                    {answeredAt !== undefined && (
                      <>
                        , <When now={answeredAt} />
                      </>
                    )}
                  </p>
                </>
              )}
            </Item>
          ))}
        </Group>
      )}
      {decisions.length > 0 && (
        <Group name="Decisions by people">
          {decisions.map(({ now, by, what, did, path, text }) => (
            <Item key={`${now} ${what}`} now={now} about={path}>
              <p className={ui.pre}>
                <strong>{by}</strong> {did}
              </p>
              {text !== undefined && <p className={classNames(ui.soft, ui.pre)}>{text}</p>}
            </Item>
          ))}
        </Group>
      )}
    </section>
  );
}

/** `decision` as `Notes: decision`, so that it is not taken for a person's. */
const kindText = (kind: NotePage['kind']): string => `Notes: ${kind}`;

const Group = ({ name, children }: { name: string; children: ReactNode }): JSX.Element => (
  <section className={css.group}>
    <h3>{name}</h3>
    <ul>{children}</ul>
  </section>
);

interface ItemProps {
  now?: number | undefined;
  about?: string | undefined;
  children: ReactNode;
}

const Item = ({ now, about, children }: ItemProps): JSX.Element => (
  <li>
    <div>{children}</div>
    <span className={css.about}>
      {about !== undefined && <span className={ui.mono}>{about}</span>}
      {now !== undefined && <When now={now} />}
    </span>
  </li>
);

const When = ({ now }: { now: number }): JSX.Element => {
  const text = useAgo(now);
  return (
    <span className={ui.num} {...exactOnHover(now)}>
      {text}
    </span>
  );
};

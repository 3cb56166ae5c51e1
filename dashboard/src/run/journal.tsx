import { useMutation, useQuery } from '@tanstack/react-query';
import { type JSX, useMemo, useState } from 'react';
import { journalQuery, loadOlder } from '../api/client.ts';
import type { JournalEntry } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { clockTime, dayText, exactOnHover, grouped } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import css from './journal.module.css';

interface EventLine {
  entry: JournalEntry;
  event: JournalEntry['events'][number];
  index: number;
}

const step = 200;

/** Every event of the run, the newest first. */
export default function Journal({ run }: { run: string }): JSX.Element {
  const { data, error } = useQuery(journalQuery(run));
  const [text, setText] = useState('');
  const [type, setType] = useState('');
  const [count, setCount] = useState(step);
  const older = useMutation({ mutationFn: () => loadOlder(run) });
  const all = useMemo(
    () =>
      (data?.entries ?? []).flatMap((entry) =>
        entry.events.map((event, index): EventLine => ({ entry, event, index })).reverse(),
      ),
    [data],
  );
  const types = useMemo(() => [...new Set(all.map(({ event }) => event.type))].sort(), [all]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((line) => (type === '' || line.event.type === type) && matches(line, words));
  const hasOlder = data?.next !== undefined;
  return (
    <section className={ui.card} aria-labelledby="journal">
      <header className={classNames(ui.cardHead, css.head)}>
        <h2 id="journal">Journal</h2>
        <span className={classNames(ui.muted, ui.num)}>
          {found.length === all.length ? '' : `${grouped(found.length)} of `}
          {hasOlder ? 'the newest ' : ''}
          {grouped(all.length)}
        </span>
        <span className={ui.grow} />
        <select
          className={ui.field}
          aria-label="Type of event"
          value={type}
          onChange={({ target }) => setType(target.value)}
        >
          <option value="">All types</option>
          {types.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <input
          type="search"
          className={ui.field}
          aria-label="Filter the journal"
          placeholder="Filter"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </header>
      {error && !data && <p className={ui.empty}>{error.message}</p>}
      <ol className={css.lines}>
        {found.slice(0, count).map((line) => (
          <Line key={`${line.entry.seq} ${line.index}`} line={line} />
        ))}
      </ol>
      {data && found.length === 0 && (
        <p className={ui.empty}>
          {hasOlder ? 'No such event among those that are loaded.' : 'No events here.'}
        </p>
      )}
      {(hasOlder || found.length > count) && (
        <button
          type="button"
          className={classNames(ui.btn, css.more)}
          disabled={older.isPending}
          onClick={() => {
            setCount(count + step);
            if (hasOlder && found.length < count + step) older.mutate();
          }}
        >
          Load older events
        </button>
      )}
      {older.error && <p className={ui.empty}>{older.error.message}</p>}
    </section>
  );
}

function matches({ entry, event }: EventLine, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const whole = `${event.type} ${event.text} ${event.path ?? ''} ${entry.by ?? ''}`.toLowerCase();
  return words.every((word) => whole.includes(word));
}

function Line({ line: { entry, event } }: { line: EventLine }): JSX.Element {
  return (
    <li>
      <span className={classNames(css.time, ui.num)} {...exactOnHover(entry.now)}>
        <span className={ui.wideOnly}>{dayText(entry.now).slice(4)} </span>
        {clockTime(entry.now)}
      </span>
      <span className={classNames(css.type, ui.mono)}>{event.type}</span>
      <span className={classNames(css.text, ui.pre)}>
        {event.text}
        {event.path !== undefined && <span className={classNames(css.path, ui.mono)}> {event.path}</span>}
      </span>
      <span className={classNames(css.by, ui.cut)}>{entry.by}</span>
    </li>
  );
}

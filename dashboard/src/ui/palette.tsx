import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CornerDownLeft, Search } from 'lucide-react';
import { type JSX, type KeyboardEvent, useDeferredValue, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { overviewQuery, rowsQuery, workflowsQuery } from '../api/client.ts';
import type { Row } from '../api-types.ts';
import { needPlace } from '../decide/needs.ts';
import { toggleTheme } from '../theme.ts';
import { classNames } from './class-names.ts';
import { Glyph } from './glyph.tsx';
import { toneMark } from './marks.ts';
import { Modal } from './modal.tsx';
import css from './palette.module.css';
import ui from './ui.module.css';

interface Entry {
  id: string;
  group: string;
  text: string;
  more: string;
  row?: Row;
  act(): void;
}

const runsShown = 8;

export default function Palette({ onClose }: { onClose(): void }): JSX.Element {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const entries = useEntries(text);
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => {
    document.getElementById(`palette-${entries[chosen]?.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [entries, chosen]);
  const perform = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = Math.max(1, entries.length);
    if (event.key === 'ArrowDown') setAt((chosen + 1) % count);
    else if (event.key === 'ArrowUp') setAt((chosen - 1 + count) % count);
    else if (event.key === 'Enter') perform(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal label="Search or jump to" className={css.palette} onClose={onClose}>
      <div className={css.ask}>
        <Search size={16} aria-hidden="true" />
        <input
          data-first
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-results"
          aria-activedescendant={entries[chosen] ? `palette-${entries[chosen].id}` : undefined}
          aria-label="Search"
          placeholder="Run or command"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div id="palette-results" className={css.results} role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          <div key={entry.id} role="presentation">
            {entries[index - 1]?.group !== entry.group && (
              <div className={css.group} role="presentation">
                {entry.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys. */}
            <div
              id={`palette-${entry.id}`}
              role="option"
              aria-selected={index === chosen}
              className={css.option}
              onMouseMove={() => setAt(index)}
              onClick={() => perform(entry)}
            >
              {entry.row ? (
                <Glyph mark={toneMark[entry.row.tone]} isQuiet />
              ) : (
                <CornerDownLeft size={15} aria-hidden="true" className={ui.muted} />
              )}
              <span className={classNames(ui.cut, css.text)}>{entry.text}</span>
              <span className={classNames(css.more, ui.mono)}>{entry.more}</span>
            </div>
          </div>
        ))}
        {entries.length === 0 && <p className={ui.empty}>Nothing found</p>}
      </div>
    </Modal>
  );
}

function useEntries(text: string): Entry[] {
  const [, go] = useLocation();
  const words = text.trim().toLowerCase();
  const { data: overview } = useQuery(overviewQuery);
  const { data: found } = useQuery({
    ...rowsQuery(undefined, useDeferredValue(words), 0, runsShown),
    placeholderData: keepPreviousData,
  });
  const { data: known } = useQuery(workflowsQuery);
  const here: Entry[] = [
    ...(overview?.needs ?? []).flatMap((row) =>
      row.need
        ? {
            id: `need-${row.run}`,
            group: 'Needs you',
            text: `${row.need.verb}: ${row.summary ?? row.workflow}`,
            more: row.run,
            row,
            act: () => go(row.need ? needPlace(row.run, row.need) : `/runs/${row.run}`),
          }
        : [],
    ),
    { id: 'runs', group: 'Commands', text: 'Go to runs', more: 'G R', act: () => go('/') },
    { id: 'workflows', group: 'Commands', text: 'Go to workflows', more: 'G W', act: () => go('/workflows') },
    { id: 'theme', group: 'Commands', text: 'Switch between light and dark', more: 'T', act: toggleTheme },
  ];
  const workflows = (known?.workflows ?? []).map(
    ({ name, from }): Entry => ({
      id: `workflow-${name}`,
      group: 'Workflows',
      text: name,
      more: from ?? '',
      act: () => go(`/workflows/${encodeURIComponent(name)}`),
    }),
  );
  const matches = ({ text, more }: Entry): boolean =>
    words.split(/\s+/).every((word) => `${text} ${more}`.toLowerCase().includes(word));
  return [
    ...here.filter(matches).slice(0, 8),
    // All of them would hide the runs.
    ...(words ? workflows.filter(matches).slice(0, 5) : []),
    ...(found?.rows ?? []).map((row) => ({
      id: row.run,
      group: 'Runs',
      text: row.summary ?? row.workflow,
      more: row.run,
      row,
      act: () => go(`/runs/${encodeURIComponent(row.run)}`),
    })),
  ];
}

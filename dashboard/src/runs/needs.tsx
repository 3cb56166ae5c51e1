import {
  ChevronRight,
  Eraser,
  Gauge,
  GitMerge,
  MessageCircleQuestion,
  OctagonAlert,
  Pause,
  UserCheck,
} from 'lucide-react';
import { type JSX, useState } from 'react';
import { Link } from 'wouter';
import type { NeedPage, Row } from '../api-types.ts';
import { needDetail, needPlace } from '../decide/needs.ts';
import { classNames } from '../ui/class-names.ts';
import { exactOnHover, useWait } from '../ui/time.ts';
import ui from '../ui/ui.module.css';
import { narrow, useMedia } from '../ui/use-media.ts';
import css from './needs.module.css';

const icons: Record<NeedPage['kind'], typeof Gauge> = {
  review: UserCheck,
  question: MessageCircleQuestion,
  decision: OctagonAlert,
  budget: Gauge,
  merge: GitMerge,
  queue: GitMerge,
  context: Eraser,
  pause: Pause,
};

export function Needs({ rows, mayDecide }: { rows: Row[]; mayDecide: boolean }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const shownAtFirst = useMedia(narrow) ? 3 : 5;
  const shown = isOpen ? rows : rows.slice(0, shownAtFirst);
  return (
    <section aria-labelledby="needs">
      <h2 id="needs" className={css.title}>
        Needs you <span className={classNames(css.badge, ui.num)}>{rows.length}</span>
      </h2>
      <ul className={css.list}>
        {shown.map((row, index) =>
          row.need ? (
            <NeedItem key={row.run} row={row} need={row.need} index={index} mayDecide={mayDecide} />
          ) : null,
        )}
      </ul>
      {shown.length < rows.length && (
        <button
          type="button"
          className={classNames(ui.btn, ui.ghost, ui.small, css.all)}
          onClick={() => setOpen(true)}
        >
          Show all {rows.length}
        </button>
      )}
    </section>
  );
}

interface ItemProps {
  row: Row;
  need: NeedPage;
  index: number;
  mayDecide: boolean;
}

function NeedItem({ row, need, index, mayDecide }: ItemProps): JSX.Element {
  const since = useWait(need.since);
  const Icon = icons[need.kind];
  const verb = mayDecide ? need.verb : 'Open';
  const name = row.summary ?? row.workflow;
  const key = index < 9 ? { 'data-key': index + 1, 'aria-keyshortcuts': String(index + 1) } : {};
  return (
    <li className={css.need}>
      <span className={css.chip}>
        <Icon size={17} aria-hidden="true" />
      </span>
      <div className={css.words}>
        <p className={css.what}>
          <strong className={ui.cut}>{need.say}</strong>
          <span className={ui.cut}>{name}</span>
        </p>
        <p className={classNames(css.detail, ui.soft)}>
          {needDetail(need)}
          {row.needs > 1 && <span className={ui.muted}> and {row.needs - 1} more in this run</span>}
        </p>
      </div>
      <span className={classNames(css.since, ui.num)} {...exactOnHover(need.since)}>
        <span className={ui.sr}>waiting for </span>
        {since}
        <ChevronRight size={15} className={css.go} aria-hidden="true" />
      </span>
      <Link
        className={classNames(ui.btn, index === 0 && ui.primary, index < 9 && ui.keyed, css.verb)}
        href={needPlace(row.run, need)}
        aria-label={`${verb}: ${name}`}
        {...key}
      >
        {verb}
      </Link>
    </li>
  );
}

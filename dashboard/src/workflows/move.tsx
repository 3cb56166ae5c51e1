import { Bell, Bot, Cog, ShieldCheck, SquareTerminal, UserRound } from 'lucide-react';
import type { JSX } from 'react';
import type { DryMove, DryRunPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import type { Mark } from '../ui/marks.ts';
import ui from '../ui/ui.module.css';
import css from './dry-run.module.css';

export const wordOf: Record<DryMove['by'], string> = {
  agent: 'Agent',
  person: 'Person',
  gates: 'Gates',
  host: 'Host',
  engine: 'Engine',
};

const icons: Record<DryMove['by'], typeof Bot> = {
  agent: Bot,
  person: UserRound,
  gates: ShieldCheck,
  host: SquareTerminal,
  engine: Cog,
};

export const markOf = ({ by, pass, refused, events }: DryMove): Mark =>
  refused || pass === false || events.some(({ type }) => /\.(failed|blocked)$/.test(type))
    ? 'red'
    : by === 'person'
      ? 'person'
      : by === 'agent'
        ? 'working'
        : 'off';

const endText: Record<DryRunPage['status'], string> = {
  running: 'The dry run stops here. The run would go on.',
  waiting: 'The dry run stops here. The run waits.',
  complete: 'The run is complete.',
  failed: 'The run has failed.',
  cancelled: 'The run is cancelled.',
};

interface Props {
  move: DryMove;
  /** Of the last move: how the run ends. */
  end: DryRunPage['status'] | undefined;
}

/** Who acts, what happened, and what the agent is told then. */
export function Move({ move, end }: Props): JSX.Element {
  const { by, events, refused, at, told, notifies } = move;
  const Icon = icons[by];
  return (
    <div className={css.move}>
      <p className={css.by} data-mark={markOf(move)}>
        <span className={css.chip}>
          <Icon size={16} aria-hidden="true" />
        </span>
        <strong>{wordOf[by]}</strong>
        <span className={ui.grow} />
        <span className={ui.sr}>now at </span>
        <span className={classNames(ui.cut, ui.soft)}>{at.title}</span>
      </p>
      {refused && (
        <div className={css.refused} data-mark="red">
          <Glyph mark="red" label="Refused" />
          <div>
            <p className={ui.pre}>{refused.message}</p>
            <p className={ui.mono}>{refused.code}</p>
          </div>
        </div>
      )}
      {!refused && (
        <section>
          <h3>What happened</h3>
          {events.length === 0 && <p className={ui.soft}>Nothing changed.</p>}
          <ul className={css.events}>
            {events.map(({ type, text }, index) => (
              <li key={index}>
                <span className={ui.pre}>{text}</span>
                <span className={classNames(ui.mono, ui.muted)}>{type}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notifies.map((text) => (
        <p key={text} className={css.notified}>
          <Bell size={14} aria-hidden="true" />
          <span>
            <span className={ui.muted}>People are notified:</span> {text}
          </span>
        </p>
      ))}
      {told !== undefined && (
        <section>
          <h3>What the agent is told</h3>
          <pre className={css.told}>{told}</pre>
        </section>
      )}
      {end && <p className={css.end}>{endText[end]}</p>}
    </div>
  );
}

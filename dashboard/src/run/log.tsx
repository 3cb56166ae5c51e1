import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, Copy } from 'lucide-react';
import { type JSX, memo, useEffect, useMemo, useRef, useState } from 'react';
import { logQuery } from '../api/client.ts';
import type { CheckPage, GatePage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import { useKeys } from '../ui/keys.ts';
import { gateMark } from '../ui/marks.ts';
import { grouped } from '../ui/time.ts';
import { toast } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { useWindow } from '../ui/use-window.ts';
import { type Line, linesOf, piecesOf, type Style, textOf } from './ansi.ts';
import css from './evidence.module.css';

const lineHeight = 18;
const above = 3 * lineHeight;
const failure = /^\s*(?:FAIL(?:ED)?\b|not ok\b|×|✗|✖|\S*Error\b)|\berror(?: TS\d+|\[E\d+\])?:/;

interface Props {
  run: string;
  check: CheckPage;
  gate: GatePage;
  index: number;
}

export function Log({ run, check, gate, index }: Props): JSX.Element {
  const { data, error, isPending } = useQuery(logQuery(run, check.id, index));
  // The stored tail is there also where the log is not.
  const text = data?.text || gate.tail || '';
  const lines = useMemo(() => (text === '' ? [] : linesOf(text.replace(/\n$/, ''))), [text]);
  const failures = useMemo(
    () => lines.flatMap((line, number) => (failure.test(textOf(line)) ? [number] : [])),
    [lines],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { first, last } = useWindow(scroller, body, { count: lines.length, height: lineHeight, over: 16 });
  const [at, setAt] = useState(0);
  const show = (line: number): void => {
    if (scroller.current) scroller.current.scrollTop = line * lineHeight - above;
  };
  const jump = (to: number): void => {
    const next = (to + failures.length) % Math.max(1, failures.length);
    setAt(next);
    show(failures[next] ?? 0);
  };
  const isOpened = useRef(false);
  const isLive = data?.isLive === true;
  useEffect(() => {
    if (lines.length === 0 || isPending) return;
    // Opened at the first failure; a log that grows stays at its end.
    const target = failures[0] ?? lines.length;
    const box = scroller.current;
    const isAtEnd = box !== null && box.scrollTop + box.clientHeight > box.scrollHeight - 100;
    if (!box || (isOpened.current && !(isLive && isAtEnd))) return;
    box.scrollTop = isLive ? box.scrollHeight : target * lineHeight - above;
    isOpened.current = true;
  }, [lines, failures, isLive, isPending]);
  useKeys({ e: () => jump(at + 1), E: () => jump(at - 1) }, failures.length > 0);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(lines.map(textOf).join('\n'));
    toast('Copied');
  };
  const button = classNames(ui.btn, ui.ghost, ui.small, ui.icon);
  return (
    <section className={css.log} aria-label={`Output of ${gate.what}`}>
      <header className={ui.cardHead}>
        <Glyph mark={gateMark[gate.state]} isQuiet />
        <h3 className={classNames(ui.mono, ui.cut)}>{gate.what}</h3>
        <span className={classNames(css.about, ui.num, ui.wideOnly)}>
          {data && data.from > 0 ? 'last ' : ''}
          {grouped(lines.length)} lines{isLive ? ', live' : ''}
        </span>
        <span className={ui.grow} />
        {failures.length > 0 && (
          <span className={css.failures}>
            <span className={ui.num}>
              failure {at + 1} of {failures.length}
            </span>
            <button
              type="button"
              className={button}
              aria-label="Previous failure"
              onClick={() => jump(at - 1)}
            >
              <ChevronUp size={15} aria-hidden="true" />
            </button>
            <button
              type="button"
              className={button}
              aria-label="Next failure"
              aria-keyshortcuts="e"
              onClick={() => jump(at + 1)}
            >
              <ChevronDown size={15} aria-hidden="true" />
            </button>
          </span>
        )}
        <button type="button" className={button} aria-label="Copy the output" onClick={() => void copy()}>
          <Copy size={14} aria-hidden="true" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div className={css.lines} ref={scroller} tabIndex={0} role="region" aria-label="Lines of the log">
        <div ref={body} style={{ height: lines.length * lineHeight }}>
          <div style={{ transform: `translateY(${first * lineHeight}px)` }}>
            {lines.slice(first, last).map((line, i) => (
              <LogLine
                key={first + i}
                line={line}
                number={first + i + 1}
                isCurrent={failures[at] === first + i}
              />
            ))}
          </div>
        </div>
        {!isPending && lines.length === 0 && (
          <p className={css.none}>{error ? error.message : 'It printed nothing.'}</p>
        )}
      </div>
    </section>
  );
}

interface LineProps {
  line: Line;
  number: number;
  isCurrent: boolean;
}

const LogLine = memo(function LogLine({ line, number, isCurrent }: LineProps): JSX.Element {
  return (
    <div className={classNames(css.line, isCurrent && css.current)}>
      <span className={css.number} aria-hidden="true">
        {number}
      </span>
      <span>
        {piecesOf(line).map(({ text, style }, index) => (
          <span key={index} className={styleClass(style)}>
            {text}
          </span>
        ))}
      </span>
    </div>
  );
});

const styleClass = ({ color, bold, dim, italic, underline, inverse }: Style): string | undefined =>
  classNames(
    color !== undefined && css[`color${color}`],
    bold && css.bold,
    dim && css.dim,
    italic && css.italic,
    underline && css.underline,
    inverse && css.inverse,
  ) || undefined;

import { withoutSecrets } from '../../context/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { ago, count } from '../../messages/index.ts';
import type { Fork, Side } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { wordsFor } from '../look/event-text.ts';
import { renderLine, type Span } from '../paint.ts';
import { suffixOf } from '../run-name.ts';
import { standsAt } from '../view/run-view.ts';
import { signsFor } from '../view/symbols.ts';

/** Events that are shown of each. */
const mostTold = 3;

/** Where two histories part, what each has come to and what was said last in it. */
export function showFork(run: string, fork: Fork, remote: string, io: Io): void {
  const { common, here, there } = fork;
  const signs = signsFor(io);
  const since = common
    ? `since batch ${common.seq}, ${ago(common.now, io.now())}`
    : 'from the first batch on';
  const width = Math.max('here'.length, remote.length);
  const line = (...spans: Span[]): void => io.stderr.write(`${renderLine(spans, io.stderr, signs.more)}\n`);
  const side = (name: string, { batches, seq, now, who, machine, state, events }: Side): void => {
    const indent = ' '.repeat(width + 4);
    line(
      ['bold', `  ${name.padEnd(width)}`],
      `  ${count(batches, 'batch', 'batches')}, the last one ${seq}, ${ago(now, io.now())}`,
    );
    line(`${indent}at ${standsAt(state)}`);
    line(`${indent}by ${who} on ${machine}`);
    const told = events.filter((event) => wordsFor(event, signs)).slice(-mostTold);
    for (const event of told) line(indent, ...(wordsFor(withoutSecrets(event), signs) ?? []));
  };
  line(['bold', run], `  two histories ${since}`);
  side('here', here);
  side(remote, there);
}

/** A run and its remote as the next command names them. */
export const addressed = (run: string, remote: string): string =>
  `${suffixOf(run)}${remote === 'origin' ? '' : ` --remote ${remote}`}`;

export function diverged(run: string, remote: string): RefusalText {
  const name = addressed(run, remote);
  return {
    code: 'diverged',
    message: `${run} went on here and on '${remote}', and only a person can say which history holds`,
    next: `stepfast pull ${name} --keep theirs, which sets the one here aside, or stepfast pull ${name} --keep mine and then stepfast push ${name}`,
  };
}

export const forkJson = ({ common, here, there }: Fork): object => ({
  common: common ? { seq: common.seq, now: new Date(common.now).toISOString() } : null,
  here: sideJson(here),
  there: sideJson(there),
});

export const sideJson = ({ batches, seq, now, who, machine, state }: Side): object => ({
  batches,
  seq,
  now: new Date(now).toISOString(),
  who,
  machine,
  stands_at: standsAt(state),
});

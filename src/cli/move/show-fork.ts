import { commandName } from '../../command-name.ts';
import { withoutSecrets } from '../../context/index.ts';
import { ago, count, describeEvent, type RefusalText } from '../../messages/index.ts';
import { type Fork, positionText, type Side } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { suffixOf } from '../run-name.ts';
import { symbolsFor } from '../view/symbols.ts';

/** Events shown per history. */
const maxShown = 3;

/** Shows where two histories diverged, the position of each and its last events. */
export function showFork(run: string, fork: Fork, remote: string, io: Io): void {
  const { common, here, there } = fork;
  const symbols = symbolsFor(io);
  const since = common ? `since batch ${common.seq}, ${ago(common.now, io.now())}` : 'from the first batch';
  const width = Math.max('here'.length, remote.length);
  const line = (...spans: Span[]): void => io.stderr.write(`${renderLine(spans, io.stderr, symbols.more)}\n`);
  const side = (name: string, { batches, seq, now, author: who, machine, state, events }: Side): void => {
    const indent = ' '.repeat(width + 4);
    line(
      ['bold', `  ${name.padEnd(width)}`],
      `  ${count(batches, 'batch', 'batches')}, up to batch ${seq}, ${ago(now, io.now())}`,
    );
    line(`${indent}at ${positionText(state)}`);
    line(`${indent}by ${who} on ${machine}`);
    const shown = events.filter((event) => describeEvent(event, symbols)).slice(-maxShown);
    for (const event of shown) line(indent, ...(describeEvent(withoutSecrets(event), symbols) ?? []));
  };
  line(['bold', run], `  diverged ${since}`);
  side('here', here);
  side(remote, there);
}

/** Arguments that name the run and its remote in a command. */
export const runArguments = (run: string, remote: string): string =>
  `${suffixOf(run)}${remote === 'origin' ? '' : ` --remote ${remote}`}`;

export function diverged(run: string, remote: string): RefusalText {
  const name = runArguments(run, remote);
  return {
    code: 'diverged',
    message: `${run} diverged: it changed here and on '${remote}', and a person must choose which history to keep`,
    next: `${commandName()} pull ${name} --keep theirs, which sets the local history aside, or ${commandName()} pull ${name} --keep mine and then ${commandName()} push ${name}`,
  };
}

export const forkJson = ({ common, here, there }: Fork): object => ({
  common: common ? { seq: common.seq, now: new Date(common.now).toISOString() } : null,
  here: sideJson(here),
  there: sideJson(there),
});

export const sideJson = ({ batches, seq, now, author: who, machine, state }: Side): object => ({
  batches,
  seq,
  now: new Date(now).toISOString(),
  who,
  machine,
  stands_at: positionText(state),
});

import { withoutSecrets } from '../../context/index.ts';
import type { Definition } from '../../machine/index.ts';
import { columnsOf, describeEvent, printable, senderText, truncate } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { damageOf } from './damage.ts';

export const options = runOptions;

type StoredEntry = Awaited<ReturnType<LocalRuntime['engine']['entries']>>[number];

const maxNameWidth = 24;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const damage = await damageOf(runtime, found.run);
  const entries = await runtime.engine.entries(found.run).catch((error: unknown) => {
    if (!damage) throw error;
    // A damaged history cannot be listed.
    return [];
  });
  const code = damage && entries.length === 0 ? exit.no : exit.ok;
  if (values.json) {
    const more = { damage: damage?.message };
    return printJson(io, { run: found.run, entries: entries.map(entryJson), ...more }, code);
  }
  // Logs end up in tickets and chats, so secrets are redacted.
  const redacted = entries.map((entry) => withoutSecrets(entry));
  const view = damage ? undefined : await runtime.engine.view(found.run);
  const onServer = runtime.serverOf(found.run) !== undefined;
  for (const line of lines(redacted, io, { definition: view?.definition, onServer }))
    io.stdout.write(`${line}\n`);
  if (damage) printRefusal(damage, io, {});
  return code;
}

/** Falls back to the newest run if none is named and none is live. */
export async function lastRun(
  runtime: LocalRuntime,
  named: string | undefined,
): ReturnType<LocalRuntime['chooseRun']> {
  const found = await runtime.chooseRun({ run: named });
  if ('run' in found || named !== undefined || found.code !== 'no_run') return found;
  const [newest] = await runtime.engine.runs({ ended: true });
  return newest ? { run: newest.run } : found;
}

function lines(
  entries: readonly StoredEntry[],
  io: Io,
  { definition, onServer }: { definition: Definition | undefined; onServer: boolean },
): string[] {
  const symbols = symbolsFor(io);
  const names = entries.map((entry) =>
    truncate(printable(senderText(entry, { onServer })), maxNameWidth, columnsOf, symbols.more),
  );
  const width = Math.max(...names.map(columnsOf), 0);
  let day = '';
  return entries.flatMap((entry, index) => {
    const { date, time } = localTime(entry.now);
    const who = (names[index] ?? '').padEnd(width);
    const described = entry.events.flatMap((event) => {
      const words = describeEvent(event, symbols, definition);
      return words === undefined ? [] : [words];
    });
    if (described.length === 0) return [];
    const heading =
      date === day ? [] : [...(day === '' ? [] : ['']), renderLine([['bold', date]], io.stdout)];
    day = date;
    return [
      ...heading,
      ...described.map((words, part) =>
        renderLine(
          [['dim', part === 0 ? `${time}  ${who}  ` : ' '.repeat(time.length + width + 4)], ...words],
          io.stdout,
          symbols.more,
        ),
      ),
    ];
  });
}

function localTime(now: number): { date: string; time: string } {
  const at = new Date(now);
  const two = (number: number): string => String(number).padStart(2, '0');
  return {
    date: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
  };
}

const entryJson = ({ seq, now, actor, session, events }: StoredEntry): object => ({
  seq,
  now: new Date(now).toISOString(),
  actor: actor ?? { kind: 'agent' },
  session: session ?? null,
  events,
});

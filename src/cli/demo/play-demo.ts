import { commandName } from '../../command-name.ts';
import type { Receipt } from '../../machine/index.ts';
import { type RefusalText, refusalText, shellVoice, wrap } from '../../messages/index.ts';
import { type Answer, type AnsweredStatus, isRefused } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { collectStats } from '../look/collect-stats.ts';
import { statsLines } from '../look/stats.ts';
import { paint, type Span } from '../paint.ts';
import { commandRows } from '../view/command-rows.ts';
import { symbolsFor } from '../view/symbols.ts';
import { type DemoProject, fixed } from './demo-project.ts';
import type { Narrator } from './narrator.ts';

/** The agent is scripted; every response comes from the engine. Throws if the engine responds differently than expected. */
export async function playDemo(demo: DemoProject, narrator: Narrator, io: Io): Promise<void> {
  const { runtime, who } = demo;
  const symbols = symbolsFor(io);
  const quoted = (text: string): Span[][] => wrap(text, 66).map((each) => [each]);

  await narrator.title(
    'stepfast demo',
    'The engine, journal, gates and hooks are real, and so is every response. The agent follows a script, and it lies.',
  );

  await narrator.scene(1, 'The agent claims to be done');
  const started = accepted(
    await runtime.start({ workflow: 'fix-and-release', summary: 'The empty cart' }, who),
  );
  const run = started.run;
  const { at: first = '' } = started;
  await bind(demo, started);
  await narrator.answers([
    [
      ['bold', first],
      ['dim', `  phase ${started.phase.current}/${started.phase.total}`],
    ],
    ...quoted(started.instructions ?? ''),
  ]);
  await narrator.says('agent', 'Fixed! All tests pass.');
  const red = accepted(await advance(demo, 'Fixed! All tests pass.', first));
  const [gate] = red.failed_gates ?? [];
  if (!gate) throw new Error('a red gate did not block');
  await narrator.answers([
    [['red', `${symbols.bad} ${gate.what}`], `  exit ${gate.exit}`],
    ...tailOf(gate.tail).map((each): Span[] => [[each.startsWith('ok') ? 'dim' : 'red', each]]),
    [
      ['dim', 'still at '],
      ['bold', red.at ?? ''],
    ],
  ]);
  await narrator.remarks(
    "Stepfast ran the tests itself. An agent's claim is recorded but does not open a gate.",
  );

  await narrator.scene(2, 'The agent skips a step');
  const skipped = first.replace(':fix#', ':release#');
  await narrator.says('agent', 'Then I will just release it.');
  await narrator.does('agent', `advance ${skipped}`);
  const refused = refusal(await advance(demo, 'Released.', skipped));
  await narrator.answers([[['red', `${symbols.bad} ${refused.message}`]], [['dim', 'next: '], refused.next]]);
  await narrator.remarks('The only way forward is through the gates of the current step.');

  await narrator.scene(3, 'The agent forgets');
  const words = 'An empty cart costs 0, never null.';
  await narrator.says('you', words);
  const note = { type: 'note', kind: 'correction', text: words } as const;
  accepted(await runtime.call(note, who, { run }));
  await narrator.does('host', 'compacts the conversation; its summary: "The user has a shop."');
  const briefing = await demo.fire('SessionStart', { source: 'compact' });
  await narrator.answers(
    excerpt(briefing, [gate.what, red.at ?? '', words]).map((each): Span[] =>
      isHeading(each) ? [['bold', each]] : [each],
    ),
  );
  await narrator.remarks(
    `Excerpt of the ${briefing.split('\n').length} lines that the hook added to the new context: the position, the failing gate, and your exact words.`,
  );

  await narrator.scene(4, 'The agent does the work');
  demo.write('cart.mjs', fixed);
  await narrator.does('agent', 'writes cart.mjs: (sum, price) => sum + price, 0');
  await narrator.says('agent', 'Now it is fixed.');
  const green = accepted(await advance(demo, 'An empty cart costs 0.', red.at ?? ''));
  if (green.step !== 'release') throw new Error('a green gate did not open the next step');
  demo.write('CHANGES.md', 'An empty cart costs 0.\n');
  await narrator.answers([
    ...(await passed(demo, run)).map(({ what, exit }): Span[] => [
      ['green', `${symbols.done} ${what}`],
      `  exit ${exit}`,
    ]),
    [
      ['bold', green.at ?? ''],
      ['dim', `  phase ${green.phase.current}/${green.phase.total}`],
    ],
  ]);
  await narrator.does('agent', 'writes CHANGES.md');
  const complete = accepted(await advance(demo, 'CHANGES.md says it.', green.at ?? ''));
  if (complete.status !== 'complete') throw new Error(`the run is ${complete.status}`);
  await narrator.answers([[['green', `${symbols.done} ${complete.run}`], `  ${complete.status}`]]);

  narrator.plain(['', paint(io.stdout, 'bold', 'What the journal recorded'), '']);
  const stats = await collectStats(runtime);
  narrator.plain(
    statsLines(stats, io).filter((line, index) => index > 1 && line !== '' && !line.includes('None so far')),
  );
  await narrator.pause(800);
  narrator.plain([
    '',
    paint(io.stdout, 'bold', 'Try it with your own agent'),
    '',
    ...commandRows(
      [
        [`${commandName()} init`, 'detect your test command, set up Claude Code'],
        ['/stepfast:go fix the bug', 'in a session: run a task and verify it'],
        [`${commandName()} hold "npm test"`, 'without a workflow: no stop while tests fail'],
      ],
      io.stdout,
    ),
    '',
  ]);
}

/** Fires the hook that binds a session to its run. */
async function bind({ fire }: DemoProject, { run, at }: AnsweredStatus): Promise<void> {
  await fire('PostToolUse', {
    tool_name: 'mcp__stepfast__workflow_start',
    tool_use_id: 'start',
    tool_input: {},
    tool_response: [{ type: 'text', text: JSON.stringify({ run, at }) }],
  });
}

const advance = ({ runtime, who }: DemoProject, output: string, at: string): Promise<Answer> =>
  runtime.call({ type: 'advance', output, at }, who, { waitMs: 30_000 });

/** The green receipts of the run. */
async function passed({ runtime }: DemoProject, run: string): Promise<Receipt[]> {
  const view = await runtime.engine.view(run);
  return Object.values(view?.state.outputs ?? {}).flatMap(({ receipts }) =>
    receipts.filter(({ pass }) => pass),
  );
}

function accepted({ reply }: Answer): AnsweredStatus {
  if (isRefused(reply)) throw new Error(reply.code);
  return reply;
}

function refusal({ reply }: Answer): RefusalText {
  if (!isRefused(reply)) throw new Error('a skipped step was accepted');
  return refusalText(reply, shellVoice());
}

const tailOf = (tail = ''): string[] => tail.trimEnd().split('\n');

const isHeading = (line: string): boolean => /^[A-Z][A-Z ]+$/.test(line);

/** The relevant lines of the briefing under their headings. */
function excerpt(briefing: string, wanted: readonly string[]): string[] {
  const found: string[] = [];
  let heading = '';
  for (const line of briefing.split('\n')) {
    if (isHeading(line)) heading = line;
    if (!wanted.some((each) => line.includes(each))) continue;
    if (heading !== '' && !found.includes(heading)) found.push(heading);
    found.push(line);
  }
  const lost = wanted.find((each) => !found.some((line) => line.includes(each)));
  if (lost !== undefined) throw new Error(`the briefing lost: ${lost}`);
  return found.map((line) => (line.length > 64 ? `${line.slice(0, 63)}…` : line));
}

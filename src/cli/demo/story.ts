import type { Receipt } from '../../machine/index.ts';
import { type RefusalText, refusalText, shellVoice, wrap } from '../../messages/index.ts';
import { type Answer, isRefused, type Told } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { tallyOf } from '../look/count-stats.ts';
import { tallyLines } from '../look/stats.ts';
import { paint, type Span } from '../paint.ts';
import { signsFor } from '../view/symbols.ts';
import { mended, type Stage } from './demo-project.ts';
import type { Teller } from './narrator.ts';

/** The agent is scripted; every answer is the engine's own. Throws where the engine did not do what it is for. */
export async function tell(stage: Stage, teller: Teller, io: Io): Promise<void> {
  const { runtime, who } = stage;
  const signs = signsFor(io);
  const quoted = (text: string): Span[][] => wrap(text, 66).map((each) => [each]);

  await teller.title(
    'stepfast demo',
    'The engine, its journal, its gates and its hooks are real, and so is every line they answer. The agent follows a script, and it lies.',
  );

  await teller.scene(1, 'It says that it is done');
  const begun = told(await runtime.start({ workflow: 'fix-and-release', summary: 'The empty cart' }, who));
  const run = begun.run;
  const { at: first = '' } = begun;
  await bind(stage, begun);
  await teller.answers([
    [
      ['bold', first],
      ['dim', `  phase ${begun.phase.current}/${begun.phase.total}`],
    ],
    ...quoted(begun.instructions ?? ''),
  ]);
  await teller.says('agent', 'Fixed! All tests pass.');
  const red = told(await advance(stage, 'Fixed! All tests pass.', first));
  const [gate] = red.failed_gates ?? [];
  if (!gate) throw new Error('a red gate was let through');
  await teller.answers([
    [['red', `${signs.bad} ${gate.what}`], `  exit ${gate.exit}`],
    ...tailOf(gate.tail).map((each): Span[] => [[each.startsWith('ok') ? 'dim' : 'red', each]]),
    [
      ['dim', 'still at '],
      ['bold', red.at ?? ''],
    ],
  ]);
  await teller.remarks('Stepfast ran the tests itself. What an agent says is recorded, and opens nothing.');

  await teller.scene(2, 'It skips a step');
  const skipped = first.replace(':fix#', ':release#');
  await teller.says('agent', 'Then I will just release it.');
  await teller.does('agent', `advance ${skipped}`);
  const refused = refusal(await advance(stage, 'Released.', skipped));
  await teller.answers([[['red', `${signs.bad} ${refused.message}`]], [['dim', 'next: '], refused.next]]);
  await teller.remarks('A position is left by its own gates, or not at all.');

  await teller.scene(3, 'It forgets');
  const words = 'An empty cart costs 0, never null.';
  await teller.says('you', words);
  const note = { type: 'note', kind: 'correction', text: words } as const;
  told(await runtime.call(note, who, { run }));
  await teller.does('host', 'compacts the conversation; its summary: "The user has a shop."');
  const briefing = await stage.fire('SessionStart', { source: 'compact' });
  await teller.answers(
    excerpt(briefing, words).map((each): Span[] => (isHeading(each) ? [['bold', each]] : [each])),
  );
  await teller.remarks(
    `From the ${briefing.split('\n').length} lines that the hook put into the new context: where it stands, what is red, and your words as you said them.`,
  );

  await teller.scene(4, 'It does the work');
  stage.write('cart.mjs', mended);
  await teller.does('agent', 'writes cart.mjs: (sum, price) => sum + price, 0');
  await teller.says('agent', 'Now it is fixed.');
  const green = told(await advance(stage, 'An empty cart costs 0.', red.at ?? ''));
  if (green.step !== 'release') throw new Error('a green gate did not open the next step');
  stage.write('CHANGES.md', 'An empty cart costs 0.\n');
  await teller.answers([
    ...(await passed(stage, run)).map(({ what, exit }): Span[] => [
      ['green', `${signs.done} ${what}`],
      `  exit ${exit}`,
    ]),
    [
      ['bold', green.at ?? ''],
      ['dim', `  phase ${green.phase.current}/${green.phase.total}`],
    ],
  ]);
  await teller.does('agent', 'writes CHANGES.md');
  const complete = told(await advance(stage, 'CHANGES.md says it.', green.at ?? ''));
  if (complete.status !== 'complete') throw new Error(`the run is ${complete.status}`);
  await teller.answers([[['green', `${signs.done} ${complete.run}`], `  ${complete.status}`]]);

  teller.plain(['', paint(io.stdout, 'bold', 'What the journal has of it'), '']);
  const tally = await tallyOf(runtime);
  teller.plain(
    tallyLines(tally, io).filter((line, index) => index > 1 && line !== '' && !line.includes('None so far')),
  );
  await teller.pause(800);
  const cyan = (text: string): string => paint(io.stdout, 'cyan', text);
  teller.plain([
    '',
    paint(io.stdout, 'bold', 'Now with your own agent'),
    '',
    `${cyan('npx stepfast init')}             finds your test command, sets up Claude Code`,
    `${cyan('/stepfast:go fix the bug')}      in a session: do it, and prove it`,
    `${cyan('stepfast hold "npm test"')}      no workflow: just no stop while it is red`,
    '',
  ]);
}

/** What the tools' hook does when a session calls Stepfast. */
async function bind({ fire }: Stage, { run, at }: Told): Promise<void> {
  await fire('PostToolUse', {
    tool_name: 'mcp__stepfast__workflow_start',
    tool_use_id: 'start',
    tool_input: {},
    tool_response: [{ type: 'text', text: JSON.stringify({ run, at }) }],
  });
}

const advance = ({ runtime, who }: Stage, output: string, at: string): Promise<Answer> =>
  runtime.call({ type: 'advance', output, at }, who, { waitMs: 30_000 });

/** The receipts that the last position was completed on. */
async function passed({ runtime }: Stage, run: string): Promise<Receipt[]> {
  const view = await runtime.engine.view(run);
  return Object.values(view?.state.outputs ?? {}).flatMap(({ receipts }) =>
    receipts.filter(({ pass }) => pass),
  );
}

function told({ reply }: Answer): Told {
  if (isRefused(reply)) throw new Error(reply.code);
  return reply;
}

function refusal({ reply }: Answer): RefusalText {
  if (!isRefused(reply)) throw new Error('a skipped step was let through');
  return refusalText(reply, shellVoice());
}

const tailOf = (tail = ''): string[] => tail.trimEnd().split('\n');

const isHeading = (line: string): boolean => /^[A-Z][A-Z ]+$/.test(line);

/** The lines that matter here, as they stand in the briefing, under their headings. */
function excerpt(briefing: string, words: string): string[] {
  const lines = briefing.split('\n');
  const wanted = [/^Status: running, /, /^The gate '/, /^> FAIL /, new RegExp(words.slice(0, 20))];
  const found: string[] = [];
  let heading = '';
  for (const line of lines) {
    if (isHeading(line)) heading = line;
    if (!wanted.some((each) => each.test(line))) continue;
    if (heading !== '' && !found.includes(heading)) found.push(heading);
    found.push(line);
  }
  if (!found.some((line) => line.includes(words)))
    throw new Error('the briefing has lost what the user said');
  return found;
}

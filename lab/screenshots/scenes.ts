/** What happened in the shop today. */
import type { Engine } from '../../src/engine/index.ts';
import { type Definition, handleOf } from '../../src/machine/index.ts';
import { begin, type Played } from '../../test/kit/dashboard/situations.ts';
import { bugfix, checkout, type Shop } from './shop.ts';

const minute = 60_000;
const facts = { host: 'claude-code', witness: 'hooks' } as const;

interface Playing extends Played {
  /** Time goes by, with turns and tokens. */
  work(minutes: number, session?: string): Promise<void>;
}

/** A run that began so many minutes ago. */
async function start(
  engine: Engine,
  definition: Definition,
  {
    summary,
    ago,
    issue,
    session = 'ada-1',
  }: { summary: string; ago: number; issue?: string; session?: string },
): Promise<Playing> {
  let now = Date.now() - ago * minute;
  const clock = (): number => now;
  const inputs = issue === undefined ? {} : { inputs: { issue } };
  const played = await begin(engine, definition, { summary, session, facts, clock, ...inputs });
  return {
    ...played,
    async work(minutes, by = session) {
      for (let passed = 0; passed < minutes; passed += 4) {
        now += Math.min(4, minutes - passed) * minute;
        await played.send({ type: 'spend', turns: 1, tokens: 14_200, session: by });
      }
    },
  };
}

const planText = `Three places let a count through that is not a whole number above zero:

1. Cart.add takes any number.
2. The form sends what was typed.
3. The API answers 500 instead of 400.

I will start in the cart, because the other two call it. Old carts in the database are left as they are: 214 of
61,000 have such a line, and all of them are older than a year.`;

const tasks = [
  { id: 'cart', title: 'Refuse counts below one in the cart' },
  { id: 'api', title: 'Answer 400 with the reason', depends_on: ['cart'] },
  { id: 'form', title: 'Say it in the form', depends_on: ['api'] },
  { id: 'half', title: 'Refuse half an article', depends_on: ['cart'] },
  { id: 'import', title: 'Skip such lines in the import', depends_on: ['half'] },
  { id: 'report', title: 'Count refused lines for the report', depends_on: ['api', 'import'] },
  { id: 'docs', title: 'Describe it for the support team' },
];

/** The handle of a task that someone holds. */
async function at(run: Playing, task: string): Promise<string> {
  const state = await run.state();
  const cursor = state.cursors[`build/${task}`];
  return cursor ? handleOf(state, cursor) : '';
}

async function join(run: Playing, session: string): Promise<void> {
  const { sessions } = await run.state();
  if (session in sessions) return;
  await run.send({ type: 'session', session, event: { type: 'started', ...facts } });
}

/** An agent says that it's done, and the tests run on the code with the bug or without it. */
async function claims(
  run: Playing,
  shop: Shop,
  output: string,
  code: 'fixed' | 'broken' = 'fixed',
  by: { session: string; at?: string } = { session: 'ada-1' },
): Promise<void> {
  const test = shop.test(code);
  await run.send({ type: 'advance', output, ...by });
  await run.gates(code === 'fixed' ? 'green' : 'red', test.output.slice(-4000), test.ms);
}

async function finish(run: Playing, task: string, shop: Shop, session: string): Promise<void> {
  await join(run, session);
  await run.send({ type: 'claim', holder: session, session, task });
  await run.work(7, session);
  await claims(run, shop, 'Done, with a test', 'fixed', { session, at: await at(run, task) });
  await run.send({ type: 'advance', output: 'Read it again', session, at: await at(run, task) });
}

async function building(engine: Engine, shop: Shop): Promise<Playing> {
  const summary = 'Refuse negative counts in the checkout';
  const run = await start(engine, checkout, { summary, ago: 190, issue: 'https://tracker.example/SHOP-214' });
  await run.work(14);
  await run.send({
    type: 'note',
    kind: 'decision',
    text: 'Counts are whole numbers from 1 to 999.',
    session: 'ada-1',
  });
  await run.send({ type: 'advance', output: planText, session: 'ada-1' });
  await run.person({ type: 'review', verdict: 'approve', feedback: 'Leave old carts alone, as you say.' });
  await run.send({ type: 'setTasks', loop: 'build', tasks, session: 'ada-1' });
  await finish(run, 'cart', shop, 'ada-2');
  await finish(run, 'half', shop, 'ada-2');
  await run.send({ type: 'claim', holder: 'ada-2', session: 'ada-2', task: 'api' });
  await join(run, 'ada-3');
  await run.send({ type: 'claim', holder: 'ada-3', session: 'ada-3', task: 'import' });
  await run.work(90, 'ada-3');
  const by = { session: 'ada-3', at: await at(run, 'import') };
  await claims(run, shop, 'The import skips them', 'broken', by);
  await run.send({
    type: 'note',
    kind: 'reminder',
    text: 'The import runs as another user.',
    session: 'ada-3',
  });
  await run.work(40, 'ada-2');
  return run;
}

/** With real gates on real files: a review says what changed, and whether it still does. */
async function reviewed(shop: Shop): Promise<{ run: string; at: string }> {
  const runtime = shop.runtime();
  const session = { session: 'ada-1', facts };
  const summary = 'Refuse a count that is no whole number';
  const { run = '' } = await runtime.start({ workflow: 'bugfix', summary }, session);
  const advance = (output: string) =>
    runtime.call({ type: 'advance', output }, session, { run, waitMs: 120_000 });
  shop.test('fixed');
  await advance('Cart.add refuses it, with two tests');
  shop.write('CHANGES.md', '- A count in the cart is a whole number above zero.\n');
  const said = `Cart.add took any number: a cart with -1 shirts was cheaper, and one with half a shirt was possible.

Now it throws a RangeError for both. The form and the API call it, so nothing else had to change.
Old carts in the database are left as they are.`;
  const { reply } = await advance(said);
  return { run, at: 'at' in reply ? (reply.at ?? '') : '' };
}

async function red(engine: Engine, shop: Shop): Promise<Playing> {
  const run = await start(engine, bugfix, { summary: 'A cart takes half an article', ago: 50 });
  await run.work(16);
  await claims(run, shop, 'Fixed, all tests pass', 'broken');
  await run.work(4);
  return run;
}

async function boundary(engine: Engine, shop: Shop): Promise<Playing> {
  const run = await start(engine, checkout, { summary: 'Keep the cart for a week', ago: 130 });
  await run.work(20);
  await run.send({ type: 'advance', output: 'One task is enough', session: 'ada-1' });
  await run.person({ type: 'review', verdict: 'approve' });
  await run.send({
    type: 'setTasks',
    loop: 'build',
    tasks: [{ id: 'keep', title: 'Store the cart' }],
    session: 'ada-1',
  });
  await finish(run, 'keep', shop, 'ada-1');
  return run;
}

async function complete(engine: Engine, shop: Shop, summary: string, ago: number): Promise<Playing> {
  const run = await start(engine, bugfix, { summary, ago });
  await run.work(34);
  await claims(run, shop, 'Fixed, with a test');
  await run.work(8);
  await run.send({ type: 'advance', output: 'Described in CHANGES.md', session: 'ada-1' });
  await run.gates('green', '', 3);
  await run.person({ type: 'review', verdict: 'approve' });
  return run;
}

async function failed(engine: Engine): Promise<Playing> {
  const run = await start(engine, checkout, { summary: 'Ship one order to two addresses', ago: 900 });
  await run.work(52);
  await run.send({ type: 'advance', output: 'This needs a new table and a new form', session: 'ada-1' });
  await run.person({
    type: 'review',
    verdict: 'abandon',
    feedback: 'Too large for now. We ask three customers first.',
  });
  return run;
}

async function running(engine: Engine, shop: Shop): Promise<Playing> {
  const run = await start(engine, bugfix, { summary: 'Search by article number', ago: 42 });
  await run.work(24);
  await claims(run, shop, 'The search finds numbers, with a test');
  await run.work(14);
  return run;
}

async function others(engine: Engine, shop: Shop): Promise<void> {
  const question = await start(engine, checkout, { summary: 'Pay by invoice', ago: 28 });
  await question.work(9);
  await question.send({
    type: 'ask',
    text: 'May companies outside the EU pay by invoice, too?',
    session: 'ada-1',
  });
  const cancelled = await start(engine, bugfix, { summary: 'Show the tax twice', ago: 1500 });
  await cancelled.person({ type: 'cancel', reason: 'Opened by mistake' });
  for (const summary of ['Empty carts show a hint', 'The total has its currency'])
    await complete(engine, shop, summary, 2000);
}

/** Paths of the pictures by name. */
export async function playShop(engine: Engine, shop: Shop): Promise<Record<string, string>> {
  await others(engine, shop);
  const page = ({ run }: Playing): string => `/runs/${run}`;
  const done = await complete(engine, shop, 'Say why a card was refused', 400);
  const ended = await failed(engine);
  const cleared = await boundary(engine, shop);
  const fixing = await red(engine, shop);
  const built = await building(engine, shop);
  const working = await running(engine, shop);
  const begun = await start(engine, checkout, { summary: 'Show what shipping costs', ago: 0.6 });
  const waiting = await reviewed(shop);
  return {
    list: '/',
    run: page(built),
    journal: `${page(built)}?tab=journal`,
    briefing: `${page(built)}?tab=briefing`,
    review: `/runs/${waiting.run}/review/${encodeURIComponent(waiting.at)}`,
    workflows: '/workflows',
    workflow: '/workflows/feature?move=5',
    'first-minute': page(begun),
    running: page(working),
    red: page(fixing),
    boundary: page(cleared),
    complete: page(done),
    failed: page(ended),
  };
}

/** The scripted work: the initial facts, and how they change. */
import type { Kind, StoryFact } from './fact.ts';

export interface Position {
  phase: { current: number; total: number; name: string };
  /** As the conversation tells it. */
  text: string;
  /** What the agent does there. */
  next: string;
  /** What it says about the position before. */
  report: string;
}

export interface Story {
  summary: string;
  facts(): readonly StoryFact[];
  fact(id: string): StoryFact;
  tasks: readonly { id: string; title: string }[];
  position(): Position;
  /** Advances to the next sub-step. */
  advance(): Position;
  /** Another decision in the place of the one that is longest in force. */
  decide(): StoryFact;
  /** Of a file of the required reading. */
  read(path: string): void;
  changed(path: string): void;
  /** What was read is no longer in the context that follows. */
  resetContext(): void;
}

export const workflowName = 'invoices';
const summary = 'Move invoicing to the ledger service without losing an invoice';

export const reading = [
  'docs/ledger-api.md',
  'docs/rounding.md',
  'docs/acceptance.md',
  'docs/cutover.md',
] as const;

/** Read at the start; one of them changes later, and one more is read. */
export const readAtStart: readonly string[] = reading.slice(0, 2);
export const changedLater: string = reading[1];
export const readLater: string = reading[2];

const decisions: Readonly<Record<string, (revision: number) => string>> = {
  storage: (r) => `Invoices go to the table ledger_entries_v${r}; the old tables are never written to again.`,
  numbering: (r) => `Numbers have the form INV-${r}-YYYY-NNNNN and are given out by the ledger, not by us.`,
  rounding: (r) =>
    `Amounts are rounded once, at the total, half to even, by rule set R${r} of the tax office.`,
  currency: (r) => `Money is an integer of minor units beside its ISO code; schema money.v${r}.`,
  retries: (r) => `A failed posting is tried ${r + 3} times with the same idempotency key, then parked.`,
  queue: (r) => `Postings pass through the queue postings-${r}, in order for each customer only.`,
  dates: (r) =>
    `Due dates are dates without a zone; a month's end moves to the last of the month (rule D${r}).`,
  errors: (r) =>
    `An unknown answer of the ledger is an error E9${r}0, never a guess, and wakes whoever is on call.`,
  cutover: (r) =>
    `The switch happens customer by customer, wave ${r} first, each with a way back for 30 days.`,
  flags: (r) => `One flag, ledger-stage-${r}, and no second one: nested flags cost us the spring release.`,
  reports: (r) => `Monthly reports read the replica reports-${r} and may be 15 minutes behind.`,
  exports: (r) => `The CSV export keeps its columns and gets a header line with the version ${r}.0.`,
};

const rejections = {
  outbox: 'No outbox table: two writers disagreed about its order in the trial of last May.',
  floats: 'No floating point anywhere, not even in tests: 0.1 + 0.2 reached a customer once.',
  bigbang: 'No switch of all customers in one night, whatever the sales department was told.',
};

const corrections = {
  wording: 'Ann: it is called "credit note" on the screen, never "negative invoice".',
  owner: 'Ann: the ledger team owns the schema; ask Ravi before any column is added.',
  vat: 'Ben: reverse charge applies to Norway as well, the table in the wiki is wrong.',
};

/** The first ones stand in the workflow, the others are noted. */
export const reminders = [
  'Run the contract tests after every change to the client',
  'Customer names never reach the log',
  'Each migration has a way back and a test of it',
  'The nightly batch holds a lock from 01:00 to 01:40',
  'Sandbox and production differ in how they order postings',
  'Ask before touching anything below legacy/billing',
];
export const variables: Readonly<Record<string, string>> = {
  issue: 'LEDG-4711',
  branch: 'move/ledger-postings',
  sandbox_host: 'sandbox-7.ledger.example.org',
  batch_size: '250',
  pilot_customer: 'C-20417 Nordlicht GmbH',
  freeze_begins: '2026-12-18',
};
/** How many of each stand in the workflow. */
export const declared = 3;

export const commands: Readonly<Record<string, string>> = {
  contract_tests: 'npm run test:contract -- --suite postings --bail --shard 2/3',
  sandbox_seed: 'node tools/seed.mjs --customers 40 --with-credit-notes --rng 8821',
  compare: 'npx ledger-diff --left legacy --right ledger --from 2026-01-01 --tolerance 0',
  replay: './bin/replay.sh --queue postings --since 6h --dry-run',
  rollback: 'kubectl -n billing rollout undo deploy/poster --to-revision=118',
};

export const paths = [
  'src/ledger/client/idempotent-post.ts',
  'src/ledger/mapping/credit-notes.ts',
  'test/contract/postings/partial-failure.test.ts',
  'db/migrations/0147-ledger-entries.sql',
  'ops/runbooks/ledger-parked-postings.md',
  'config/waves/2026-q4.json',
];
/** These the agent writes itself; the others it is told of. */
export const written = paths.slice(0, 2);

const nouns = ['client', 'mapping', 'queue', 'importer', 'report', 'export', 'backfill', 'screen', 'alarm'];

export function createStory(compactions: number): Story {
  const tasks = Array.from({ length: Math.ceil(compactions / 8) + 1 }, (_, index) => ({
    id: `part-${index + 1}`,
    title: `the ${nouns[index % nouns.length]} of wave ${Math.floor(index / nouns.length) + 1}`,
  }));
  const facts = new Map<string, StoryFact>();
  const add = (kind: Kind, name: string, text: string): void => {
    const id = `${kind}:${name}`;
    facts.set(id, { id, kind, text, before: [] });
  };
  const fact = (id: string): StoryFact => {
    const found = facts.get(id);
    if (!found) throw new Error(`no fact '${id}'`);
    return found;
  };
  const replace = (id: string, text: string): StoryFact => {
    const old = fact(id);
    const made = { ...old, text, before: [...old.before, old.text].filter((each) => each !== text) };
    facts.set(id, made);
    return made;
  };

  let moves = 0;
  const position = (): Position => {
    const index = Math.floor(moves / subSteps.length) % tasks.length;
    const task = tasks[index] ?? { id: '', title: '' };
    const sub = moves % subSteps.length;
    const { id, says } = subSteps[sub] ?? { id: '', says: '' };
    const text = `task ${index + 1}/${tasks.length} '${task.title}', sub-step ${sub + 1}/${subSteps.length} '${id}'`;
    const report = `Round ${moves}: ${8 + (moves % 7)} tests more, partial failures and credit notes are covered; one case of the sandbox is left open and noted.`;
    const phase = { current: 2, total: 3, name: `build, ${text}` };
    return { phase, text, next: filled(says, task), report };
  };

  add('goal', 'summary', summary);
  add('position', 'now', position().text);
  add('next action', 'now', position().next);
  for (const [key, text] of Object.entries(decisions)) add('decision', key, text(1));
  for (const [key, text] of Object.entries(rejections)) add('rejection', key, text);
  for (const [key, text] of Object.entries(corrections)) add('correction', key, text);
  for (const [index, text] of reminders.entries()) add('reminder', String(index), text);
  for (const [key, value] of Object.entries(variables)) add('variable', key, `${key}: ${value}`);
  for (const path of paths) add('path', path, path);
  for (const [key, command] of Object.entries(commands)) add('command', key, command);
  for (const path of reading) {
    add('required reading', path, `@${path}`);
    const state = readAtStart.includes(path) ? 'read' : 'not yet read';
    add('reading state', path, `${path} (${state})`);
  }

  const keys = Object.keys(decisions);
  let decided = 0;
  return {
    summary,
    tasks,
    facts: () => [...facts.values()],
    fact,
    position,
    advance: () => {
      moves += 1;
      replace('position:now', position().text);
      replace('next action:now', position().next);
      return position();
    },
    decide: () => {
      const key = keys[decided % keys.length] ?? '';
      const revision = 2 + Math.floor(decided / keys.length);
      decided += 1;
      return replace(`decision:${key}`, decisions[key]?.(revision) ?? '');
    },
    read: (path) => {
      replace(`reading state:${path}`, `${path} (read)`);
    },
    changed: (path) => {
      replace(`reading state:${path}`, `${path} (changed since it was read)`);
    },
    resetContext: () => {
      for (const path of reading)
        if (fact(`reading state:${path}`).text === `${path} (read)`)
          replace(`reading state:${path}`, `${path} (read before this context began)`);
    },
  };
}

const subSteps = [
  { id: 'implement', says: 'Build {task.title} behind the flag of {task.id}, tests first.' },
  {
    id: 'verify',
    says: 'Hold {task.title} against the acceptance list and name what {task.id} still lacks.',
  },
] as const;

const filled = (text: string, task: { id: string; title: string }): string =>
  text.replaceAll('{task.title}', task.title).replaceAll('{task.id}', task.id);

/** The workflow file. */
export function workflowFile(): string {
  const list = (items: readonly string[]): string =>
    items.map((item) => `  - ${JSON.stringify(item)}\n`).join('');
  const some = Object.entries(variables).slice(0, declared);
  return [
    `name: ${workflowName}\ndescription: Plans, builds part by part, ships\n`,
    `required_reading:\n${list(reading.map((path) => `@${path}`))}`,
    `key_reminders:\n${list(reminders.slice(0, declared))}`,
    `variables:\n${some.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`).join('')}`,
    `loops:\n  build:\n${subSteps.map(({ id, says }) => `    - { id: ${id}, instructions: ${JSON.stringify(says)} }\n`).join('')}`,
    'steps:\n  - { id: plan, type: action, instructions: Cut the work into parts. }\n',
    '  - { id: build, type: loop }\n  - { id: ship, type: action, instructions: Ship it. }\n',
  ].join('');
}

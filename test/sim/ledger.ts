import { type Command, type Event, opening, type Reply, type Text } from '../../src/machine/index.ts';
import type { Entry, Loaded, Store, StoredEntry, Version } from '../../src/store/index.ts';

/** One thing that an agent wants, however often it sends it. */
export interface Wish {
  id: number;
  command: Command;
  key?: string;
}

/** A reply to an agent, and the version of the run that it was based on. */
interface Answer {
  wish: Wish;
  seen: Version;
  /** Absent where the agent only looked. */
  reply: Reply | undefined;
}

/** An append that was tried; whether it came about is the store's to say. */
interface Attempt {
  wish: Wish;
  after: Version;
  entry: Entry;
}

/** Everything that was answered and everything that was tried in one history: what the end is held against. */
export interface Ledger {
  /** The store as one call of one wish sees it. */
  watched(store: Store, wish: Wish): { store: Store; answered(reply?: Reply): void };
  readonly answers: number;
  /** What does not hold of the run as it is found in the end; `aside` gives a history that another took the place of, up to a version. */
  audit(found: StoredEntry[], aside?: (version: Version) => StoredEntry[] | undefined): Finding[];
}

export interface Finding {
  kind: 'lost' | 'twice' | 'wrong';
  what: string;
}

export function createLedger(): Ledger {
  const answers: Answer[] = [];
  const attempts = new Map<string, Attempt[]>();

  const tried = (attempt: Attempt): void => {
    const known = attempts.get(attempt.after.hash);
    if (known) known.push(attempt);
    else attempts.set(attempt.after.hash, [attempt]);
  };

  return {
    get answers() {
      return answers.length;
    },

    watched: (store, wish) => {
      let seen: Version | undefined;
      const load = async (run: string, key?: string): Promise<Loaded | undefined> => {
        const loaded = await store.load(run, key);
        if (loaded) seen = loaded.version;
        return loaded;
      };
      const append: Store['append'] = async (loaded, entry, state) => {
        tried({ wish, after: loaded.version, entry });
        const version = await store.append(loaded, entry, state);
        if (version !== 'conflict') seen = version;
        return version;
      };
      const create: Store['create'] = async (run, pinned, entry, state) => {
        tried({ wish, after: beginning, entry });
        const version = await store.create(run, pinned, entry, state);
        if (version !== 'taken') seen = version;
        return version;
      };
      const answered = (reply?: Reply): void => {
        if (seen) answers.push({ wish, seen, reply });
      };
      return { store: { ...store, load, append, create }, answered };
    },

    audit: (found, aside) => {
      const findings: Finding[] = [];
      const say = (kind: Finding['kind'], what: string): void => {
        findings.push({ kind, what });
      };
      checkChain(found, attempts, say);
      const here: Answer[] = [];
      for (const answer of answers) {
        const { seen, wish } = answer;
        if (found[seen.seq - (found[0]?.seq ?? 0)]?.hash === seen.hash) {
          here.push(answer);
          continue;
        }
        const history = aside?.(seen);
        if (!history)
          say('lost', `${named(wish)} was answered from batch ${seen.seq}, which is not in the journal`);
        else findings.push(...auditAsides(answer, history));
      }
      findings.push(...auditAnswers(here, found, aside !== undefined));
      return findings;
    },
  };
}

/**
 * What answers and journal alone can tell: everything that was answered has happened, and nothing happened twice.
 * `exchanged`: a handle may name what another agent did at the same position of another history.
 */
export function auditAnswers(
  answers: readonly { wish: Wish; reply: Reply | undefined }[],
  found: StoredEntry[],
  exchanged = false,
): Finding[] {
  const events = found.flatMap((entry) => entry.events);
  const findings = repeatedIn(events).map((what): Finding => ({ kind: 'twice', what }));
  const keys = new Set<string>();
  for (const { key } of found) {
    if (key === undefined) continue;
    if (keys.has(key)) findings.push({ kind: 'twice', what: `the key ${key} is on two batches` });
    keys.add(key);
  }
  for (const { wish, reply } of answers) {
    const missing = reply && missingEvent(wish, reply, events, exchanged);
    if (missing)
      findings.push({
        kind: 'lost',
        what: `${named(wish)} was answered, but ${missing} is not in the journal`,
      });
  }
  return findings;
}

/** In a history that was cut off, what became of a position may be that its gates were asked for, and no more. */
function auditAsides({ wish, reply }: Answer, history: StoredEntry[]): Finding[] {
  const events = history.flatMap((entry) => entry.events);
  const missing = reply && missingEvent(wish, reply, events, true);
  return missing ? [{ kind: 'lost', what: `${named(wish)} was answered, but ${missing} is not aside` }] : [];
}

/** Before the first batch of a run. */
const beginning: Version = { seq: -1, hash: '' };

type Say = (kind: Finding['kind'], what: string) => void;

/** Every batch was attempted at exactly this place; a wish has at most one batch. */
function checkChain(found: StoredEntry[], attempts: Map<string, Attempt[]>, say: Say): void {
  let before = beginning;
  const granted = new Map<number, number>();
  for (const entry of found) {
    if (before !== beginning && entry.seq !== before.seq + 1)
      say('wrong', `batch ${entry.seq} follows ${before.seq}`);
    const events = JSON.stringify(entry.events);
    const origin = attempts
      .get(before.hash)
      ?.find((attempt) => attempt.entry.now === entry.now && JSON.stringify(attempt.entry.events) === events);
    if (!origin) say('wrong', `no agent tried to put batch ${entry.seq} after ${before.seq}: ${events}`);
    else if (isOnce(origin.wish.command)) {
      const earlier = granted.get(origin.wish.id);
      if (earlier !== undefined)
        say('twice', `${named(origin.wish)} made the batches ${earlier} and ${entry.seq}`);
      granted.set(origin.wish.id, entry.seq);
    }
    before = entry;
  }
}

/** Sent again, these do nothing: they carry a key, or the handle that they complete. */
const isOnce = (command: Command): boolean => command.type === 'note' || command.type === 'todo';

/** What must have happened for a call to be answered as it was. */
function missingEvent(
  { command }: Wish,
  reply: Reply,
  events: readonly Event[],
  exchanged: boolean,
): string | undefined {
  if ('code' in reply) return undefined;
  switch (command.type) {
    case 'note':
      return events.some((event) => event.type === 'note.added' && event.text === command.text)
        ? undefined
        : `the note '${command.text}'`;
    case 'todo':
      return events.some((event) => event.type === 'todo.replaced') ? undefined : 'the list';
    case 'advance':
    case 'fail': {
      const { at } = command;
      // A run that is not running answers with its status and takes nothing.
      if (reply.status !== 'running' || at === undefined) return undefined;
      const own = !exchanged && command.type === 'advance' && !reply.replayed && reply.at !== at;
      const found = events.some((event) => {
        if (!('at' in event) || event.at !== at) return false;
        if (own) return event.type === 'position.completed' && isText(event.output, command.output);
        return outcomes.includes(event.type);
      });
      return found ? undefined : `what became of ${at}${own ? ' with these words' : ''}`;
    }
    default:
      return undefined;
  }
}

const outcomes: Event['type'][] = [
  'position.completed',
  'position.failed',
  'gates.requested',
  'review.requested',
];

/** A long text is told by its opening, which has its number. */
const isText = (kept: Text, said: Text): boolean => opening(said).startsWith(opening(kept));

/** What happens once in the life of a run, and happened again. */
function repeatedIn(events: readonly Event[]): string[] {
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const event of events) {
    for (const fact of onceOnly(event)) {
      if (seen.has(fact)) twice.push(`${fact} happened twice`);
      seen.add(fact);
    }
  }
  return twice;
}

function onceOnly(event: Event): string[] {
  switch (event.type) {
    case 'run.started':
    case 'run.completed':
      return [event.type];
    case 'position.entered':
      return [
        `the entry of ${event.step}/${event.task ?? ''}/${event.subStep ?? event.iteration ?? ''}#${event.visit}`,
      ];
    case 'position.completed':
      return [`the completion of ${event.at}`, `the output ${JSON.stringify(event.output)}`];
    case 'gates.requested':
    case 'gates.finished':
      return [`${event.type} ${event.id}`];
    case 'task.ended':
      return event.at === undefined ? [] : [`the end of a task at ${event.at}`];
    case 'step.completed':
      return [`the completion of step ${event.step}`];
    case 'note.added':
      return [`the note ${event.text}`];
    default:
      return [];
  }
}

const named = ({ id, command }: Wish): string =>
  `call ${id} (${command.type}${'at' in command && command.at !== undefined ? ` ${command.at}` : ''})`;

import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import { newerError } from '../journal-version.ts';
import type { StoredEntry, Version } from '../store.ts';
import { genesis, type ParsedLine, parseLines, type ValidLine } from './journal.ts';

/** The last accepted line and its offset. */
export interface JournalTail extends Version {
  offset: number;
}

export const emptyTail = (run: string): JournalTail => ({ seq: 0, hash: genesis(run), offset: 0 });

/** The lines of a journal, or of its end, by their validity. */
export interface Chain {
  /** The first valid line of each sequence, in order. */
  accepted: ValidLine[];
  /** Valid, but another line with the same sequence number was first. */
  races: ValidLine[];
  /** Part of another history of the same run. */
  forked: ValidLine[];
  /** Valid, but a line before it is lost. */
  orphans: ValidLine[];
  bad: ParsedLine[];
  newer: Extract<ParsedLine, { kind: 'newer' }>[];
}

/** The whole journal of a run. */
export const readChain = (run: string, bytes: Uint8Array): Chain =>
  buildChain(parseLines(bytes), { seq: 0, hash: genesis(run) });

/** The end of a journal, starting with a known line; undefined if the whole journal must be read. */
export function resumeChain(bytes: Uint8Array, tail: JournalTail): Chain | undefined {
  const lines = parseLines(bytes, tail.offset);
  const first = lines[0];
  if (first?.kind !== 'line' || first.offset !== tail.offset) return undefined;
  if (first.hash !== tail.hash || first.line.seq !== tail.seq) return undefined;
  const chain = buildChain(lines, { seq: tail.seq - 1, hash: first.line.prev });
  return isSound(chain) ? chain : undefined;
}

/** Whether a reader may use the chain. */
export const isSound = (chain: Chain): boolean =>
  chain.forked.length === 0 && chain.orphans.length === 0 && chain.newer.length === 0;

export function requireSound(run: string, chain: Chain): void {
  const [newer] = chain.newer;
  if (newer) throw newerError(run, newer.version);
  if (chain.forked.length > 0) {
    const branches = branchesOf(chain);
    const ids = branches.map(({ id, machine, to }) => `${id} (${machine}, up to batch ${to})`);
    const commands = branches.map(({ id }) => `${commandName()} repair ${run} --keep ${id}`);
    throw new StepfastError(
      'store_forked',
      `run '${run}' has more than one history (${ids.join(', ')}): choose one with ${commands.join(' or ')}`,
      { data: { run, branches } },
    );
  }
  const [orphan] = chain.orphans;
  if (!orphan) return;
  throw corrupt(
    run,
    `line ${orphan.number} of its journal is batch ${orphan.line.seq}, but an earlier batch is damaged`,
  );
}

export const corrupt = (run: string, what: string): StepfastError =>
  new StepfastError(
    'store_corrupt',
    `run '${run}' is damaged: ${what}: ${commandName()} repair ${run} keeps the intact batches`,
    { data: { run } },
  );

export function tailOf(run: string, chain: Chain): JournalTail {
  const last = chain.accepted.at(-1);
  return last ? { seq: last.line.seq, hash: last.hash, offset: last.offset } : emptyTail(run);
}

export const idLength = 8;

/** One of several histories of a run. */
export interface Branch {
  /** The first characters of its last line's hash. */
  id: string;
  machine: string;
  /** The first and last batch that only this branch has. */
  from: number;
  to: number;
  began: number;
  ended: number;
  /** The distinct types of its own events. */
  what: string[];
  /** Whether readers follow this branch. */
  accepted: boolean;
}

export const branchesOf = (chain: Chain): Branch[] => branchesWithLines(chain).map(({ branch }) => branch);

/**
 * All lines of a branch, from the run's first; undefined if there is no such branch. Also accepts the id of a lost race:
 * batches of clones with the same machine name look like one.
 */
export function branchLines(chain: Chain, id: string): ValidLine[] | undefined {
  const branch = branchesWithLines(chain).find((each) => each.branch.id === id);
  if (branch) return branch.lines;
  const race = chain.races.find(({ hash }) => hash.slice(0, idLength) === id);
  return race && [...chain.accepted.filter(({ line }) => line.seq < race.line.seq), race];
}

export function entryOf({ line, hash }: ValidLine): StoredEntry {
  const { v: _v, prev: _prev, machine: _machine, nonce: _nonce, pinned: _pinned, ...entry } = line;
  return { ...entry, hash };
}

function buildChain(lines: ParsedLine[], base: Version): Chain {
  const chain: Chain = { accepted: [], races: [], forked: [], orphans: [], bad: [], newer: [] };
  const byHash = new Map<string, ValidLine>();
  const parents = new Set<string>();
  const unaccepted: ValidLine[] = [];
  let tail = base;
  for (const found of lines) {
    if (found.kind === 'bad') chain.bad.push(found);
    else if (found.kind === 'newer') chain.newer.push(found);
    // Duplicate lines count once.
    else if (!byHash.has(found.hash)) {
      byHash.set(found.hash, found);
      parents.add(found.line.prev);
      if (found.line.seq === tail.seq + 1 && found.line.prev === tail.hash) {
        chain.accepted.push(found);
        tail = { seq: found.line.seq, hash: found.hash };
      } else unaccepted.push(found);
    }
  }
  const unacceptedHashes = new Set(unaccepted.map(({ hash }) => hash));
  for (const found of unaccepted) {
    const winner = chain.accepted[found.line.seq - base.seq - 1];
    // Only a single line can be a lost race: a line with a parent or child among the rest belongs to a fork.
    const alone = !parents.has(found.hash) && !unacceptedHashes.has(found.line.prev);
    const lostRace = alone && winner?.line.machine === found.line.machine;
    if (lostRace) chain.races.push(found);
    else if (leadsBackTo(found, byHash, base)) chain.forked.push(found);
    else chain.orphans.push(found);
  }
  return chain;
}

/** Whether the chain of previous lines leads back to the base. */
function leadsBackTo(found: ValidLine, byHash: ReadonlyMap<string, ValidLine>, base: Version): boolean {
  let line = found;
  for (;;) {
    if (line.line.prev === base.hash) return line.line.seq === base.seq + 1;
    const before = byHash.get(line.line.prev);
    if (!before || before.line.seq !== line.line.seq - 1) return false;
    line = before;
  }
}

function branchesWithLines(chain: Chain): { branch: Branch; lines: ValidLine[] }[] {
  if (chain.forked.length === 0) return [];
  const all = [...chain.accepted, ...chain.forked];
  const byHash = new Map(all.map((found) => [found.hash, found]));
  const parents = new Set(all.map((found) => found.line.prev));
  const tip = chain.accepted.at(-1);
  // The accepted tip always counts: forks start before it, so nothing follows it.
  const tips = all.filter((found) => !parents.has(found.hash) || found === tip);
  const paths = tips.map((last) => {
    const lines: ValidLine[] = [];
    for (let line: ValidLine | undefined = last; line; line = byHash.get(line.line.prev)) lines.push(line);
    return lines.reverse();
  });
  return paths.map((lines) => {
    const others = new Set(
      paths.filter((path) => path !== lines).flatMap((path) => path.map((line) => line.hash)),
    );
    const own = lines.filter((line) => !others.has(line.hash));
    return { branch: describeBranch(own.length > 0 ? own : lines.slice(-1), lines.at(-1) === tip), lines };
  });
}

function describeBranch(own: ValidLine[], accepted: boolean): Branch {
  const [first] = own;
  const last = own.at(-1);
  if (!first || !last) throw new RangeError('a branch needs at least one line');
  return {
    id: last.hash.slice(0, idLength),
    machine: last.line.machine,
    from: first.line.seq,
    to: last.line.seq,
    began: first.line.now,
    ended: last.line.now,
    what: [...new Set(own.flatMap((found) => found.line.events.map((event) => event.type)))],
    accepted,
  };
}

import { createHash } from 'node:crypto';
import { createEngine } from '../../src/engine/engine.ts';
import { StepfastError } from '../../src/errors.ts';
import type { FileStore, Files, FileTransfer, RunHistory } from '../../src/store/index.ts';
import { Dice } from '../properties/dice.ts';
import { type Agent, createAgent, gateWish, isIdle, type Office, wishOf } from './agent.ts';
import { createDisk, systemError } from './disk.ts';
import { createMachine, type Faults, type Machine, noFaults } from './fault-files.ts';
import { inspect, repairFork } from './inspect.ts';
import { createLedger, type Finding, type Wish } from './ledger.ts';
import { createElsewhere, type Moved, move } from './mover.ts';
import { type Plant, planted } from './planted.ts';
import { createScheduler, type Process } from './scheduler.ts';
import { createTrace } from './trace.ts';
import { randomWorkflow } from './workload.ts';

export interface History {
  seed: number;
  agents: number;
  crashes: number;
  /** Steps of the scheduler: calls on the file system and wakings. */
  calls: number;
  answers: number;
  batches: number;
  findings: Finding[];
  trace: string;
}

interface Options {
  plant?: Plant;
  /** In the place of what the seed would have. */
  faults?: Partial<Faults>;
  lockless?: boolean;
  /** People who pull while the others work. */
  movers?: number;
  /** Gets every line of the trace. */
  log?: (line: string) => void;
}

/** Processes come and go; the agents behind them stay. */
interface Host {
  agents: Agent[];
  /** Pulls that a mover still makes. */
  moves?: number;
  process?: Process;
}

const directory = '/project/runs';
const epoch = 1_760_000_000_000;
const mostCalls = 60_000;

/**
 * One history, all of it decided by the seed: agents over the real engine and the real file store on a machine that
 * fails, then a time without faults in which the run has to end, then a power loss, then the reckoning.
 */
export async function simulate(seed: number, { plant, log, ...options }: Options = {}): Promise<History> {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1) ^ 0x5f356495);
  const definition = randomWorkflow(dice);
  const scheduler = createScheduler(dice, dice.pick([0, 0, 4, 7]) ?? 0);
  const trace = createTrace(log);
  const machine = createMachine({ disk: createDisk(), dice, scheduler, died: restart, trace: trace.call });
  const ledger = createLedger();
  const findings: Finding[] = [];
  // Histories without pulls go on as they would without this.
  const pulls = new Dice(Math.imul(seed, 0x85ebca6b) ^ 0x27d4eb2f);
  const some = pulls.one(3) || plant?.startsWith('transfer-') ? 1 + pulls.roll(6) : 0;
  const movers = Array.from(
    { length: options.movers ?? some },
    (): Host => ({ agents: [], moves: 3 + pulls.roll(6) }),
  );
  const hosts = [...gather(dice), ...movers];
  const moved: Moved[] = [];
  const shared = new Map<string, RunHistory>();
  const faults = { ...randomFaults(dice), ...options.faults };
  const crowded = dice.one(4);
  const unlocked = dice.one(3);
  const lockless = options.lockless ?? unlocked;
  const mostCrashes = 8 + dice.roll(10);
  const pinned = { definition, hash: createHash('sha256').update(JSON.stringify(definition)).digest('hex') };
  let run: string | undefined;
  let beginnings = 0;
  let ended = false;
  let closing = false;
  let wishes = 0;
  const office: Office = {
    dice,
    now: (agent) => epoch + scheduler.now + agent.skew,
    jumpy: () => machine.faults !== noFaults,
    next: () => {
      wishes += 1;
      return wishes;
    },
  };

  const elsewhere = createElsewhere(ledger, office.next, () => epoch + scheduler.now);

  makeRoot(machine);
  for (const host of hosts) start(host);
  // A run that is hard to begin is soon at its last crash.
  if (!dice.one(4)) await scheduler.run(() => run !== undefined, mostCalls);
  machine.faults = faults;
  const crashed = (): number => machine.crashes.kills + machine.crashes.powerLosses;
  const over = (): boolean => ended || findings.length > 0;
  let calls = await scheduler.run(() => over() || crashed() >= mostCrashes, mostCalls);
  if (ended) calls += await scheduler.run(() => crashed() >= mostCrashes, 200);
  machine.faults = noFaults;
  for (const { agents } of hosts) for (const agent of agents) agent.skew = 0;
  calls += await scheduler.run(over, mostCalls);
  if (!over()) findings.push({ kind: 'wrong', what: 'the run does not end though nothing fails any more' });
  closing = true;
  machine.losePower();

  const { files, process } = machine.spawn();
  let batches = 0;
  let reckoned = false;
  const reckoning = inspect({
    files,
    store: planted(plant).store(files, 'last'),
    directory,
    run,
    ledger,
    moved,
  });
  reckoning
    .then(
      (found) => {
        batches = found.batches;
        findings.push(...found.findings);
      },
      (error: Error) => findings.push({ kind: 'lost', what: `the run cannot be read: ${told(error)}` }),
    )
    .finally(() => {
      reckoned = true;
    });
  calls += await scheduler.run(() => reckoned, mostCalls);
  machine.kill(process);
  return {
    seed,
    agents: hosts.reduce((sum, { agents }) => sum + agents.length, 0),
    crashes: crashed(),
    calls,
    answers: ledger.answers,
    batches,
    findings,
    trace: trace.digest(),
  };

  function start(host: Host): void {
    if (closing) return;
    const { process, files } = machine.spawn();
    host.process = process;
    const seenFiles = lockless ? withoutLock(files) : files;
    const store = planted(plant).store(seenFiles, `n${process.number}`);
    if (host.moves !== undefined) {
      const transfer = planted(plant).transfer(seenFiles, `n${process.number}`);
      pull(host, process, store, transfer).catch((error: Error) => {
        if (process.alive) findings.push({ kind: 'wrong', what: `a pull: ${error.stack}` });
      });
    }
    for (const agent of host.agents) {
      live(agent, process, store).catch((error: Error) => {
        if (process.alive) findings.push({ kind: 'wrong', what: `agent ${agent.number}: ${error.stack}` });
      });
    }
  }

  function restart(process: Process): void {
    const host = hosts.find((candidate) => candidate.process === process);
    if (!host) return;
    scheduler.after(1 + dice.roll(40), undefined, () => start(host));
  }

  /** An agent's life in one process: sends, waits, sends again what it does not know the outcome of. */
  async function live(agent: Agent, process: Process, store: FileStore): Promise<void> {
    while (process.alive) {
      await pause(agent, process);
      if (run === undefined) {
        if (agent.number === 0) await begin(agent, process, store);
        continue;
      }
      const wish = agent.open ?? (await wanted(agent, process, store, run));
      if (!wish || !process.alive) continue;
      agent.open = wish;
      const twin = dice.one(10) ? send(agent, process, store, run, wish) : undefined;
      const known = await send(agent, process, store, run, wish);
      await twin;
      if (!known && !dice.one(8)) continue;
      agent.open = undefined;
      if (agent.past.length < 8) agent.past.push(wish);
    }
  }

  /** A person's life in one process: pulls some times, and some more where that failed. */
  async function pull(host: Host, process: Process, store: FileStore, transfer: FileTransfer): Promise<void> {
    while (process.alive && host.moves !== undefined && host.moves > 0) {
      await new Promise<void>((resolve) => scheduler.after(pulls.roll(crowded ? 60 : 400), process, resolve));
      if (run === undefined) continue;
      try {
        const done = await move(transfer, run, { elsewhere, dice: pulls, shared });
        if (!process.alive) return;
        if (done) moved.push(done);
        host.moves -= 1;
        trace.answer(-1, 'pull', 'ok');
      } catch (error) {
        if (process.alive) host.moves -= 1;
        await failed(-1, process, 'pull', error, store);
      }
    }
  }

  function pause(agent: Agent, process: Process): Promise<void> {
    const longest = crowded ? 10 : 20 + 60 * (agent.number % 6) ** 2;
    const ms = isIdle(agent) ? 300 + dice.roll(1_000) : dice.roll(longest);
    return new Promise((resolve) => scheduler.after(ms, process, resolve));
  }

  async function begin(agent: Agent, process: Process, store: FileStore): Promise<void> {
    const wish: Wish = { id: office.next(), command: { now: 0, type: 'status' } };
    const watched = ledger.watched(store, wish);
    const newRun = (): string => {
      beginnings += 1;
      return `sim-20261115-r${beginnings}`;
    };
    const engine = createEngine({ store: watched.store, newRun, hashOf: () => 'sha256:test' });
    const command = { type: 'start', now: office.now(agent), session: agent.session } as const;
    try {
      const begun = await engine.begin(pinned.definition, command);
      if (!process.alive) return;
      run = begun.run;
      watched.answered(begun.reply);
      trace.answer(agent.number, 'start', 'ok');
    } catch (error) {
      await failed(agent.number, process, 'start', error, store);
    }
  }

  async function wanted(
    agent: Agent,
    process: Process,
    store: FileStore,
    run: string,
  ): Promise<Wish | undefined> {
    if (!agent.runner) return wishOf(agent, office);
    const wish: Wish = { id: office.next(), command: { now: 0, type: 'status' } };
    const watched = ledger.watched(store, wish);
    try {
      const loaded = await watched.store.load(run);
      if (!loaded || !process.alive) return undefined;
      watched.answered();
      const found = gateWish(agent, loaded.state, office);
      if (!found) await store.watch(run, loaded.version.seq, 300);
      return found ?? (dice.one(4) ? wishOf(agent, office) : undefined);
    } catch (error) {
      await failed(agent.number, process, 'view', error, store);
      return undefined;
    }
  }

  /** True when the outcome is known. */
  async function send(
    agent: Agent,
    process: Process,
    store: FileStore,
    run: string,
    wish: Wish,
  ): Promise<boolean> {
    const watched = ledger.watched(store, wish);
    const engine = planted(plant).engine(
      createEngine({ store: watched.store, newRun: () => run, hashOf: () => 'sha256:test' }),
    );
    const { type } = wish.command;
    try {
      const { reply } = await engine.execute(run, { ...wish.command, now: office.now(agent) }, wish.key);
      if (!process.alive) return false;
      watched.answered(reply);
      trace.answer(agent.number, type, 'code' in reply ? reply.code : reply.status);
      agent.reply = reply;
      if ('status' in reply && (reply.status === 'complete' || reply.status === 'failed')) ended = true;
      return true;
    } catch (error) {
      await failed(agent.number, process, type, error, store);
      return false;
    }
  }

  /** Only faults that were injected may be met, and only as what a store may throw; a call under way may tell of one later. */
  async function failed(
    agent: number,
    process: Process,
    what: string,
    error: unknown,
    store: FileStore,
  ): Promise<void> {
    if (!process.alive) return;
    trace.answer(agent, what, told(error));
    if (error instanceof StepfastError) {
      if (error.code === 'busy') return;
      // Another agent has chosen.
      if (error.code === 'unknown_branch' && movers.length > 0) return;
      if (error.code === 'store_failed' && isInjected(error, faults)) return;
      if (error.code === 'store_forked' && movers.length > 0 && run !== undefined) {
        await repairFork(store, run).catch((again) => failed(agent, process, 'repair', again, store));
        return;
      }
    }
    const kind = error instanceof StepfastError && error.code === 'no_run' ? 'lost' : 'wrong';
    findings.push({ kind, what: `${what} of agent ${agent} threw ${told(error)}` });
  }
}

const told = (error: unknown): string =>
  error instanceof StepfastError ? `${error.code}: ${error.message}` : String(error);

/** What the medium said, or the store's own word for short writes time and again; never a slip of the code. */
function isInjected({ cause }: StepfastError, faults: Faults): boolean {
  if (!(cause instanceof Error)) return false;
  if ('code' in cause) return cause.code === 'EIO' || cause.code === 'ENOSPC';
  return faults.shortWrite > 0 && cause.name === 'Error';
}

/** Few agents in most histories, many in some; most with a process of their own. */
function gather(dice: Dice): Host[] {
  const count = 8 + (dice.one(6) ? dice.roll(25) : dice.roll(4));
  const agents = Array.from({ length: count }, (_, number) => createAgent(number, number % 6 === 1));
  const processes = dice.one(4) ? 2 + dice.roll(4) : count;
  const hosts: Host[] = Array.from({ length: processes }, () => ({ agents: [] }));
  for (const agent of agents) hosts[agent.number % processes]?.agents.push(agent);
  return hosts;
}

function randomFaults(dice: Dice): Faults {
  const broken = dice.one(2) ? { ioError: 40, shortWrite: 16, full: 200 } : {};
  const crashes = dice.pick([
    { kill: 30, powerLoss: 0 },
    { kill: 40, powerLoss: 220 },
    { kill: 50, powerLoss: 150 },
    { kill: 0, powerLoss: 70 },
  ]);
  return { ...noFaults, ...crashes, ...broken };
}

/** The lock is never granted: it only avoids races, and nothing depends on it. */
const withoutLock = (files: Files): Files => ({
  ...files,
  create: async (path, bytes) => {
    if (path.endsWith('/lock')) throw systemError('EROFS', path);
    return await files.create(path, bytes);
  },
});

/** The project was there before. */
function makeRoot({ disk }: Machine): void {
  disk.makeDirectory('/project');
  disk.makeDirectory(directory);
  disk.syncDirectory('/project');
  disk.syncDirectory('/');
}

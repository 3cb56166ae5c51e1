import type { Dice } from '../properties/dice.ts';

/** Something that calls and can be killed; what it waits for then never comes. */
export interface Process {
  readonly number: number;
  alive: boolean;
}

/** One call that waits for its turn. `perform` answers true when it has settled, false to be asked again. */
export interface Call {
  process: Process;
  perform(): boolean;
}

/**
 * Decides who goes on: whenever nothing can run, one waiting call is picked by the dice and performed. Time is
 * virtual; it passes with each call and jumps when everybody sleeps.
 */
export interface Scheduler {
  readonly now: number;
  spawn(): Process;
  /** Drops what the process waits for. */
  kill(process: Process): void;
  call(call: Call): void;
  after(ms: number, process: Process | undefined, wake: () => void): void;
  /** Runs until no call is pending, `done` holds, or `most` calls were performed. Returns how many were. */
  run(done: () => boolean, most: number): Promise<number>;
}

interface Sleeper {
  due: number;
  process: Process | undefined;
  wake: () => void;
}

/** `sticky`: out of 8 picks, how many stay with the process that went last. */
export function createScheduler(dice: Dice, sticky: number): Scheduler {
  let now = 0;
  let spawned = 0;
  let last: Process | undefined;
  let ready: Call[] = [];
  let sleepers: Sleeper[] = [];

  const pick = (): Call | undefined => {
    if (ready.length === 0) return undefined;
    let index = dice.roll(ready.length);
    if (sticky > 0 && dice.roll(8) < sticky) {
      const own = ready.findIndex(({ process }) => process === last);
      if (own >= 0) index = own;
    }
    const [call] = ready.splice(index, 1);
    return call;
  };

  /** Wakes the first sleeper that is due; `jump` moves the clock when no call is pending. */
  const wakeOne = (jump: boolean): boolean => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) if (!first || sleeper.due < first.due) first = sleeper;
    if (!first || (first.due > now && !jump)) return false;
    now = Math.max(now, first.due);
    sleepers.splice(sleepers.indexOf(first), 1);
    first.wake();
    return true;
  };

  const step = (): boolean => {
    if (wakeOne(false)) return true;
    const call = pick();
    if (!call) return wakeOne(true);
    if (dice.one(4)) now += dice.one(16) ? 40 : 1;
    last = call.process;
    if (!call.perform() && call.process.alive) ready.push(call);
    return true;
  };

  return {
    get now() {
      return now;
    },
    spawn: () => {
      spawned += 1;
      return { number: spawned, alive: true };
    },
    kill: (process) => {
      process.alive = false;
      ready = ready.filter((call) => call.process !== process);
      sleepers = sleepers.filter((sleeper) => sleeper.process !== process);
    },
    call: (call) => {
      ready.push(call);
    },
    after: (ms, process, wake) => {
      sleepers.push({ due: now + ms, process, wake });
    },
    run: (done, most) =>
      new Promise((resolve, reject) => {
        let performed = 0;
        // Asked for by a microtask, a tick comes when no microtask is left: every step sees all calls that wait.
        const later = (): void => process.nextTick(tick);
        const tick = (): void => {
          try {
            if (performed >= most || done() || !step()) return resolve(performed);
          } catch (error) {
            return reject(error);
          }
          performed += 1;
          queueMicrotask(later);
        };
        queueMicrotask(later);
      }),
  };
}

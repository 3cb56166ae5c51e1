/** A repeated action that never overlaps with itself. */
export interface Loop {
  /** Runs the action soon, ahead of the interval. */
  kick(): void;
  /** Resolves when the current round has finished. No further round starts. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  everyMs: number;
  /** Minimum pause between two rounds, also when kicked. */
  restMs?: number;
  /** Receives the error of a failed round. The next round starts after the interval. */
  report(error: unknown): void;
}

export function createLoop(action: () => Promise<void>, options: LoopOptions): Loop {
  const { everyMs, restMs = 0, report } = options;
  let stopped = false;
  let kicked = false;
  let resting = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  kick();
  return {
    kick,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };

  function kick(): void {
    kicked = true;
    if (!stopped && !running && !resting) begin();
  }

  function begin(): void {
    clearTimeout(timer);
    resting = false;
    kicked = false;
    running = round();
  }

  async function round(): Promise<void> {
    let failed = false;
    try {
      await action();
    } catch (error) {
      failed = true;
      report(error);
    }
    running = undefined;
    if (stopped) return;
    resting = true;
    // A failed round always waits for the interval: an immediate retry would likely fail too.
    timer = setTimeout(() => (kicked ? begin() : idle()), failed ? everyMs : restMs);
  }

  function idle(): void {
    resting = false;
    timer = setTimeout(begin, Math.max(0, everyMs - restMs));
  }
}

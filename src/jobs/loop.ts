/** Something done again and again, never twice at a time. */
export interface Loop {
  /** Does it soon, whatever the interval says. */
  kick(): void;
  /** Resolves when what runs has ended; nothing begins after it. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  everyMs: number;
  /** However often it is kicked, so much lies between two rounds. */
  restMs?: number;
  /** Hears what a round throws; the next one comes after the interval. */
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
    // A failure waits for the interval whoever kicks: it would come again.
    timer = setTimeout(() => (kicked ? begin() : idle()), failed ? everyMs : restMs);
  }

  function idle(): void {
    resting = false;
    timer = setTimeout(begin, Math.max(0, everyMs - restMs));
  }
}

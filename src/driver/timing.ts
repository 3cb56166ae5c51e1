/** The clocks of a driver, in milliseconds, and its bounds. */
export interface Timing {
  /** Without any event of the host: the turn is interrupted, then the session is replaced. */
  idleMs: number;
  /** The same while a tool call is open. */
  idleInToolMs: number;
  /** After the position is done, or after an interrupt: the turn must end by then. */
  graceMs: number;
  /** How often the clocks are looked at. */
  tickMs: number;
  /** The first wait for the model service; each further one is twice as long, up to the last. */
  serviceMs: number;
  longestServiceMs: number;
  /** How long the merge queue waits before it looks again whether a person has acted. */
  heldMs: number;
  /** How long a wait for the run's next change may take. */
  pollMs: number;
  /** What a run may use whose workflow has no budget. Then it is paused. */
  bounds: { turns: number; ms: number };
}

export const defaultTiming: Timing = {
  idleMs: 10 * 60_000,
  idleInToolMs: 60 * 60_000,
  graceMs: 60_000,
  tickMs: 1_000,
  serviceMs: 15_000,
  longestServiceMs: 5 * 60_000,
  heldMs: 10_000,
  pollMs: 2_000,
  bounds: { turns: 200, ms: 8 * 3_600_000 },
};

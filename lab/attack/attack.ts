import type { Ground } from './ground.ts';

/** What one attack got. */
export interface Outcome {
  /** A few words for the table. */
  got: string;
  /** It reached what it wanted. */
  succeeded: boolean;
}

export interface Attack {
  /** The finding that it comes from, or what it is. */
  id: string;
  what: string;
  run(ground: Ground): Promise<Outcome>;
}

export interface Attack {
  what: string;
  run(): Promise<Outcome>;
}

/** What one attack got, in a few words, and whether it reached what it wanted. */
export interface Outcome {
  got: string;
  succeeded: boolean;
}

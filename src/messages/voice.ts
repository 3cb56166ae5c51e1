import type { Action } from '../machine/index.ts';

/** How one kind of reader performs what a refusal asks for. Each answers a whole sentence. */
export interface Voice {
  next(action: Action): string;
  start(input?: { workflow: string; name: string }): string;
  /** In a session that works on no run, while others may. */
  startOrContinue(): string;
  workflows(): string;
  chooseRun(runs: readonly string[]): string;
  setTasks(step: string): string;
  advance(at: string): string;
  handOver(at: string, agent: string): string;
  resetContext(at: string, context: string): string;
  askPerson(command: string): string;
}

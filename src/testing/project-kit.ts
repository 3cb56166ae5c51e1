import type { State } from '../machine/index.ts';
import type { Event, EventType } from '../schema/index.ts';
import type { FakeIoOptions } from './fake-io.ts';

/** Contents by path, relative to the project's root. */
export type TestFiles = Record<string, string | Uint8Array>;

/** A temporary project, isolated from the user of this machine, with Stepfast's command line in it. */
export interface ProjectKit {
  root: string;
  home: string;
  /** The environment of everything that runs in the project: its own HOME, a git author, no keys. */
  env: Record<string, string>;
  write(files: TestFiles): void;
  git(...args: string[]): string;
  /** Runs `stepfast` with these arguments in this process; `terminal` and `input` act as a person at a keyboard. */
  run(argv: readonly string[], options?: FakeIoOptions): Promise<CommandResult>;
  /** Trusts the commands of a workflow, which a person does at a terminal. */
  trust(workflow: string): void;
  /** Starts a workflow as the session of an agent that has ended. */
  startRun(workflow: string): Promise<TestRun>;
  /** The project's only run; throws where there is none or there are several. */
  onlyRun(): Promise<TestRun>;
  /** Removes the project and its home. */
  [Symbol.dispose](): void;
}

export interface CommandResult {
  /** The exit status. */
  code: number;
  stdout: string;
  stderr: string;
}

export interface TestRun {
  run: string;
  /** The handle of the step where the run started; empty for a run that was found. */
  at: string;
  state(): Promise<State>;
  events<T extends EventType>(type: T): Promise<Extract<Event, { type: T }>[]>;
}

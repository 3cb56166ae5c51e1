import type { Status } from '../../machine/index.ts';
import { type NextCommands, nextForPerson, nextForShell } from '../../messages/index.ts';
import { isPerson } from '../caller.ts';
import type { Io } from '../io.ts';

/** What comes next, for the person or the agent at this terminal. */
export const nextFor = ({ action }: Status, io: Io, run?: string): NextCommands =>
  isPerson(io) ? nextForPerson(action, run) : nextForShell(action, run);

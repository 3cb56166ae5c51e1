import type { Status } from '../../machine/index.ts';
import { type AgentSession, type NextCommands, nextForPerson, nextForShell } from '../../messages/index.ts';
import { isPerson } from '../caller.ts';
import type { Io } from '../io.ts';

/** The next action, worded for the person or the agent that runs the command. */
export const nextFor = ({ action }: Status, io: Io, run?: string, agent?: AgentSession): NextCommands =>
  isPerson(io) ? nextForPerson(action, run, agent) : nextForShell(action, run);

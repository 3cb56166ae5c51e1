import type { Fact } from '../../src/testing/index.ts';

export const kinds = [
  'goal',
  'position',
  'next action',
  'decision',
  'rejection',
  'correction',
  'reminder',
  'variable',
  'path',
  'command',
  'required reading',
  'reading state',
] as const;
export type Kind = (typeof kinds)[number];

/** A fact that the agent must know. `text` is its exact wording in the conversation. */
export interface StoryFact extends Fact {
  /** Of what it is about; it stays when the text changes. */
  id: string;
  kind: Kind;
  /** The outdated text, which must no longer appear. */
  before: string[];
}

/**
 * The chance to survive one summary. Measured are decisions, paths and commands; of the others, sentences are counted
 * as decisions and values as paths, which is kind to the summariser.
 */
export function ratesOf(measured: { decision: number; path: number; command: number }): Record<Kind, number> {
  const { decision, path, command } = measured;
  return {
    goal: decision,
    position: decision,
    'next action': decision,
    decision,
    rejection: decision,
    correction: decision,
    reminder: decision,
    variable: path,
    path,
    command,
    'required reading': path,
    'reading state': path,
  };
}

export const stands = ({ text }: StoryFact, context: string): boolean => context.includes(text);

export const isStale = ({ before }: StoryFact, context: string): boolean =>
  before.some((text) => context.includes(text));

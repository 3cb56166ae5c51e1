import type { Answer } from '../../src/testing/index.ts';
import type { StoryFact } from './fact.ts';
import type { Position, Story } from './story.ts';

export const mechanismNames = ['stepfast', 'seed-002', 'none'] as const;
export type MechanismName = (typeof mechanismNames)[number];

/**
 * What an agent does, beside its work, so that it is not lost. Each part answers the requests of one turn; a person
 * then gets the same closing words whatever the mechanism is.
 */
export interface Mechanism {
  /** `stepfast init` installs it. */
  installed: boolean;
  /** Files of the project. */
  files: Record<string, string>;
  begins(story: Story): Answer[];
  decided(fact: StoryFact, story: Story): Answer[];
  advances(to: Position, story: Story): Answer[];
  /** What else must stand in a request so that the position counts as kept. */
  handle(): string;
}

export const withoutAny: Mechanism = {
  installed: false,
  files: {},
  begins: () => [],
  decided: () => [],
  advances: () => [],
  handle: () => '',
};

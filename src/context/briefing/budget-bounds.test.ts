import { expect, it } from 'vitest';
import { Run } from '../../../test/kit/run.ts';
import { Dice } from '../../../test/properties/dice.ts';
import { dense } from '../../../test/properties/texts.ts';
import { type Definition, leastBriefing, statusOf } from '../../machine/index.ts';
import { nextForTools } from '../../messages/index.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds, workBudget } from './budget-bounds.ts';
import { compileBriefing } from './compile-briefing.ts';
import { fits, subtract, sum } from './text-size.ts';

it('the fixed parts leave room for the beginning of the instructions within leastBriefing', () => {
  const { status, frame, notes, feedback, furtherFeedback, pivot } = bounds;
  expect(fits(leastBriefing, { tokens: 2500, characters: 9000 })).toBe(true);
  expect(workBudget).toEqual(subtract(leastBriefing, sum(status, frame)));
  const left = subtract(workBudget, sum(notes, feedback, furtherFeedback, pivot));
  expect(fits({ tokens: 100, characters: 400 }, left)).toBe(true);
});

/** The worst case: every part at its maximum length and token density. */
function worst(word: (most: number) => string): BriefingSource {
  const long = (most: number): string => {
    let text = '';
    while (text.length < most) text += `${word(most)} `;
    return text.slice(0, most);
  };
  const id = (most = 60): string => dense(new Dice(most), 1).padEnd(most, dense(new Dice(7), 64));
  const step = id(63);
  const definition: Definition = {
    name: id(100),
    description: 'x',
    inputs: { story: { type: 'string' } },
    required_reading: Array.from({ length: 100 }, (_, at) => `@${at}`),
    key_reminders: Array.from({ length: 100 }, (_, at) => `${at} ${long(900)}`),
    variables: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`v${at}`, long(900)])),
    steps: [
      {
        id: step,
        type: 'action',
        instructions: long(5000),
        context: 'clear',
        gate: [{ run: long(500) }],
        review: { by: 'human', on_pivot: step },
      },
    ],
  };
  const run = new Run(definition, { start: false });
  const summary = long(100);
  run.send({
    type: 'start',
    run: `${id(60)}-20261114-k3f9x2ab`,
    session: 'A',
    summary,
    inputs: { story: long(2000) },
  });
  const go = (): void => {
    run.status({ session: 'A' });
    run.status({ session: 'A' });
    run.advance(long(3000), { session: 'A' });
    run.gates();
  };
  go();
  run.person({ type: 'review', verdict: 'pivot', feedback: `first ${long(590)}` });
  go();
  run.person({ type: 'review', verdict: 'revise', feedback: `again ${long(590)}` });
  go();
  run.person({ type: 'review', verdict: 'escalate', feedback: `higher ${long(590)}` });
  for (let at = 0; at < 130; at += 1)
    run.send({ type: 'note', kind: 'decision', text: `${at} ${long(at % 3 === 0 ? 300 : 3)}` });
  for (let at = 0; at < 50; at += 1) run.send({ type: 'note', kind: 'artefact', text: `${at}` });
  const [cursor] = Object.values(run.state.cursors);
  return {
    definition,
    state: run.state,
    ...(cursor ? { cursor } : {}),
    session: 'A',
    values: {},
    now: run.now,
    next: nextForTools(statusOf(definition, run.state, { cursor, session: 'A' }).action),
    more: 'stepfast prime --section {section}',
    differences: Array.from({ length: 100 }, (_, at) => `${at} ${long(900)}`),
    reading: (definition.required_reading ?? []).map((path) => ({ path, state: 'unread' })),
    artifacts: Array.from({ length: 100 }, (_, at) => ({
      id: `${at}`,
      type: 'markdown',
      description: `${at}`,
      required: true,
      triggers: [],
      content: { state: 'missing', why: long(900) },
    })),
    worktree: `trees/${long(1000)}`,
  };
}

it.each([
  ['prose', () => 'password'],
  ['hashes', () => dense(new Dice(3), 64)],
  ['ideographs', () => '步骤失败将等待人工审核'],
  ['blanks', () => 'x                                '],
])('the worst case in %s is within leastBriefing', (_, word) => {
  const source = worst(word);
  const { tokens, characters, sections } = compileBriefing(source, leastBriefing);
  expect(tokens).toBeLessThanOrEqual(leastBriefing.tokens);
  expect(characters).toBeLessThanOrEqual(leastBriefing.characters);
  expect(sections.find(({ name }) => name === 'notes')?.text).not.toContain('more: ');
  expect(sections.find(({ name }) => name === 'instructions')?.text).toContain('Truncated from');
});

/** What `npm run survive` counts, so that its figures mean what its page says. */
import { expect, it } from 'vitest';
import { isStale, stands } from '../lab/survive/fact.ts';
import { standingIn } from '../lab/survive/standing.ts';
import { changedLater, createStory } from '../lab/survive/story.ts';
import type { ModelRequest } from '../src/testing/index.ts';

it('there are at least 40 facts, and none stands in the words of another', () => {
  const facts = createStory(100).facts();
  expect(facts.length).toBeGreaterThanOrEqual(40);
  for (const one of facts) {
    const others = facts.filter(({ id }) => id !== one.id).map(({ text }) => text);
    expect(others.filter((text) => text.includes(one.text))).toEqual([]);
  }
});

it('a decision in the place of another makes the old words stale and not its own', () => {
  const story = createStory(100);
  for (let index = 0; index < 40; index += 1) {
    const made = story.decide();
    expect(isStale(made, made.text)).toBe(false);
    expect(stands(made, made.text)).toBe(true);
    expect(isStale(made, `... ${made.before.at(-1)} ...`)).toBe(true);
  }
});

it('a position, and what was read, changes with the run', () => {
  const story = createStory(100);
  const before = story.position();
  expect(story.advance().text).not.toBe(before.text);
  expect(isStale(story.fact('position:now'), before.text)).toBe(true);
  story.changed(changedLater);
  expect(stands(story.fact(`reading state:${changedLater}`), `${changedLater} (read)`)).toBe(false);
});

it("tools, the agent's words and the echo of a hook do not count, summaries are told apart", () => {
  const body: ModelRequest['body'] = {
    model: 'm',
    system: [{ type: 'text', text: 'IN-SYSTEM' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'This session is being continued from a previous conversation: IN-SUMMARY' },
          { type: 'text', text: '<local-command-stdout>Compacted IN-ECHO</local-command-stdout>' },
          { type: 'tool_result', content: 'IN-RESULT' },
        ],
      },
      { role: 'assistant', content: 'IN-ANSWER' },
      { role: 'system', content: "hook: RUN\nBriefing b-abc of run x\nIN-BRIEFING\n\nToday's date is 2026" },
    ],
  };
  const found = standingIn({ n: 1, at: 0, kind: 'main', session: 's', lastUser: '', body });
  const marks = (text: string) => text.match(/IN-[A-Z]+/g);
  expect(marks(found.counted)).toEqual(['IN-SYSTEM', 'IN-SUMMARY', 'IN-BRIEFING']);
  expect(marks(found.injected)).toEqual(['IN-SYSTEM', 'IN-BRIEFING']);
  expect(marks(found.whole)).toHaveLength(6);
  expect(found.briefing).toBe('RUN\nBriefing b-abc of run x\nIN-BRIEFING');
  expect(found.cut).toBe(false);
});

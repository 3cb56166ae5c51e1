import { describe, expect, test } from 'vitest';
import { type ContextWindowOptions, createContextWindow } from './context-window.ts';
import type { WindowMessage } from './message.ts';

/** One token for four characters: what a test says is what it means. */
const countTokens = (text: string): number => Math.ceil(text.length / 4);
const create = (options: Partial<ContextWindowOptions> = {}) =>
  createContextWindow({ systemPrompt: 'You are a coder.', countTokens, ...options });
const long = (text: string): string => `${text} ${'x'.repeat(395 - text.length)}.`;

describe('the state that is re-injected', () => {
  test('is added once and replaced by the next', async () => {
    let step = 1;
    const window = create({
      onCompacted: ({ dropped }) => `Step ${step++}, after ${dropped.length} messages`,
    });
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 9; n++) window.append(n % 2 ? 'assistant' : 'user', long(`message ${round}.${n}`));
      await window.compact(800);
    }
    const states = JSON.stringify(window.messages()).match(/Step \d/g);
    expect(states).toEqual(['Step 3']);
  });

  test('is not said where the prompt says it', async () => {
    const state = `Position: coding. ${'Every test of the writer has to pass before the review begins. '.repeat(2)}`;
    const window = create({ systemPrompt: `You are a coder.\n${state}`, onCompacted: () => state });
    for (let n = 0; n < 9; n++) window.append('user', long(`message ${n}`));
    await window.compact(800);
    expect(window.conversation()[0]?.content).toBe('[Earlier conversation: 6 messages, left out]');
  });

  test('is asked for at every compaction that takes messages away, however large the last one was', async () => {
    let asked = 0;
    const window = create({
      onCompacted: () => {
        asked += 1;
        return 's'.repeat(3200);
      },
    });
    for (let n = 0; n < 60; n++) window.append('user', `message ${n} ${'x'.repeat(60)}`);
    for (let round = 1; round <= 3; round++) {
      const { dropped } = await window.compact(1000);
      expect(dropped).toBeGreaterThan(0);
      expect(asked).toBe(round);
      for (let n = 0; n < 8; n++) window.append('user', `message ${round}.${n} ${'x'.repeat(60)}`);
    }
  });

  test('what goes without a summary because of it is told; once its size is known, nothing does', async () => {
    const summarised = new Set<unknown>();
    const window = create({
      summarise: async (messages) => {
        for (const { content } of messages) summarised.add(content);
        return 'Summary';
      },
      onCompacted: () => 's'.repeat(3200),
    });
    const said: string[] = [];
    const fillUp = (): void => {
      for (let n = 0; n < 60; n++) {
        said.push(`message ${said.length} ${'x'.repeat(60)}`);
        window.append('user', said.at(-1) ?? '');
      }
    };
    const lost = (): string[] => {
      const left = window.conversation().map(({ content }) => content);
      return said.filter((each) => !left.includes(each) && !summarised.has(each));
    };
    fillUp();
    const first = await window.compact(1000);
    expect(first).toMatchObject({ summarised: false, problems: [{ code: 'dropped_unsummarised' }] });
    expect(first.problems[0]?.message).toMatch(new RegExp(`\\b${lost().length}\\b`));
    expect(window.conversation()[0]?.content).toContain(
      `[Earlier conversation: ${first.dropped} messages, ${first.dropped - lost().length} of them summarised]`,
    );
    const lostFirst = lost();
    fillUp();
    expect(await window.compact(1000)).toMatchObject({ summarised: true, problems: [] });
    expect(lost()).toEqual(lostFirst);
  });

  test('is left out where it does not fit, and the result says so', async () => {
    const window = create({ onCompacted: () => 'state '.repeat(1000) });
    for (let n = 0; n < 9; n++) window.append('user', long(`message ${n}`));
    const result = await window.compact(800);
    expect(result.problems).toMatchObject([{ code: 'state_left_out' }]);
    expect(result.after).toBeLessThanOrEqual(800);
    expect(window.conversation().length).toBeGreaterThan(3);
  });

  test('takes the place of old messages where there is not enough for both, to the last token', async () => {
    const state = 's'.repeat(250);
    const prompt = 4 + 'You are a coder.'.length;
    const lastTwo = 2 * (4 + 'message 21'.length);
    const whole = 4 + `[Earlier conversation: 18 messages, left out]\n\n${state}`.length;
    for (let limit = 200; limit < 600; limit++) {
      const window = create({ countTokens: (text) => text.length, onCompacted: () => state });
      // The first are long, so that few of them make room and more have to follow.
      for (let n = 2; n <= 21; n++) window.append('user', `message ${n}`.padEnd(n < 10 ? 56 : 10));
      const { after, problems } = await window.compact(limit);
      expect(after, `limit ${limit}`).toBeLessThanOrEqual(limit);
      const fits = prompt + lastTwo + whole <= limit;
      expect(problems.length === 0, `limit ${limit}`).toBe(fits);
    }
  });

  test('takes the place of a call only together with its result', async () => {
    const window = createContextWindow<WindowMessage>({
      systemPrompt: 'You are a coder.',
      countTokens,
      onCompacted: () => 's'.repeat(2400),
    });
    for (let n = 1; n <= 8; n++) window.append('user', long(`message ${n}`));
    window.append('assistant', [{ type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }]);
    const output = { type: 'text', value: long('the file').repeat(2) };
    window.append('tool', [{ type: 'tool-result', toolCallId: 'a', toolName: 'read', output }]);
    window.append('assistant', long('message 9'));
    window.append('user', long('message 10'));
    expect(await window.compact(1000)).toMatchObject({ dropped: 10, problems: [] });
    expect(String(window.conversation()[0]?.content)).toMatch(
      /^\[Earlier conversation: 10 messages, left out\]/,
    );
  });

  test('outlives a summary where only one of them fits', async () => {
    const window = create({ summarise: async () => 'Summary '.repeat(20), onCompacted: () => 'Step 1' });
    for (let n = 0; n < 9; n++) window.append('user', long(`message ${n}`));
    await window.compact(800);
    const result = await window.compact(window.tokens().total - 1);
    expect(result).toMatchObject({ compacted: true, dropped: 0, problems: [{ code: 'summary_left_out' }] });
    expect(window.conversation()[0]?.content).toBe('[Earlier conversation: 7 messages, left out]\n\nStep 1');
  });

  test('a callback that fails costs the state, not the compaction', async () => {
    const window = create({ onCompacted: () => Promise.reject(new Error('no run')) });
    for (let n = 0; n < 9; n++) window.append('user', long(`message ${n}`));
    const result = await window.compact(800);
    expect(result).toMatchObject({
      compacted: true,
      problems: [{ code: 'state_failed', message: 'The state callback failed: no run' }],
    });
  });
});

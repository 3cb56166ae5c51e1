import { describe, expect, test } from 'vitest';
import { type ContextWindowOptions, createContextWindow } from './context-window.ts';

/** Exactly four characters per token, so that tests can compute sizes. */
const countTokens = (text: string): number => Math.ceil(text.length / 4);
const create = (options: Partial<ContextWindowOptions> = {}) =>
  createContextWindow({ systemPrompt: 'You are a coder.', countTokens, ...options });
const long = (text: string): string => `${text} ${'x'.repeat(395 - text.length)}.`;

describe('[003/1] the system prompt and the conversation', () => {
  test('the prompt is at index 0, appended messages follow in order', () => {
    const window = create();
    window.append('user', 'Add an export');
    window.append('assistant', 'Which format?');
    window.append('tool', 'ls: src');
    window.append('system', 'Tests are red');
    expect(window.systemPrompt()).toEqual({ role: 'system', content: 'You are a coder.' });
    expect(window.conversation().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system']);
    expect(window.messages()).toEqual([window.systemPrompt(), ...window.conversation()]);
  });

  test('a reset replaces index 0 and keeps the conversation', () => {
    const window = create();
    window.append('user', 'Add an export');
    window.resetSystemPrompt('You are coding.');
    expect(window.messages()).toEqual([
      { role: 'system', content: 'You are coding.' },
      { role: 'user', content: 'Add an export' },
    ]);
  });

  test('clear drops the conversation and keeps the prompt and pinned entries', () => {
    const window = create();
    window.pin('PLAN', 'First the parser, then the writer.');
    window.append('user', 'Add an export');
    window.clear();
    expect(window.messages()).toEqual([
      { role: 'system', content: 'You are a coder.\n\n**[PLAN]:** "First the parser, then the writer."' },
    ]);
  });

  test('a compaction keeps index 0 and the last two messages, and drops the oldest', async () => {
    const window = create();
    for (let n = 1; n <= 9; n++) window.append(n % 2 ? 'user' : 'assistant', long(`message ${n}`));
    const result = await window.compact(500);
    expect(result).toMatchObject({
      compacted: true,
      summarised: false,
      dropped: 7,
      before: 944,
      problems: [],
    });
    expect(result.after).toBe(window.tokens().total);
    const [prompt, note, ...rest] = window.messages();
    expect(prompt).toEqual({ role: 'system', content: 'You are a coder.' });
    expect(note).toEqual({ role: 'user', content: '[Earlier conversation: 7 messages, left out]' });
    expect(rest.map(({ content }) => content)).toEqual([long('message 8'), long('message 9')]);
  });

  test('the same object pushed twice counts as two messages', async () => {
    const window = create();
    const again = { role: 'user' as const, content: long('go on') };
    for (let n = 1; n <= 9; n++) window.push(again);
    expect(await window.compact(500)).toMatchObject({ dropped: 7 });
    expect(window.conversation()).toHaveLength(1 + 2);
  });

  test('a window within the limit stays unchanged', async () => {
    const window = create({ summarise: () => Promise.reject(new Error('never asked')) });
    window.append('user', 'Add an export');
    const before = window.messages();
    expect(await window.compact(1000)).toMatchObject({ compacted: false, dropped: 0, problems: [] });
    expect(window.messages()).toEqual(before);
  });

  test('if the part that must stay exceeds the limit, the result says so and nothing of it is lost', async () => {
    const window = create();
    window.pin('STORY', long('the story'));
    for (let n = 1; n <= 5; n++) window.append('user', long(`message ${n}`));
    const { after, problems } = await window.compact(250);
    expect(problems).toMatchObject([{ code: 'notice_left_out' }, { code: 'over_limit' }]);
    expect(problems[1]?.message).toContain(`${after - 250}`);
    expect(window.systemPrompt().content).toContain(long('the story'));
    expect(window.conversation().map(({ content }) => content)).toEqual([
      long('message 4'),
      long('message 5'),
    ]);
  });

  test('NaN as the limit is an error and drops nothing', async () => {
    const window = create();
    window.append('user', 'Add an export');
    await expect(window.compact(Number.NaN)).rejects.toMatchObject({ code: 'bad_limit' });
    expect(window.conversation()).toHaveLength(1);
  });
});

describe('pinned entries', () => {
  test('the same key replaces an entry, and unpin removes it', () => {
    const window = create();
    window.pin('PLAN', 'First the parser.');
    window.pin('PLAN', 'First the writer.');
    expect(window.systemPrompt().content).toBe('You are a coder.\n\n**[PLAN]:** "First the writer."');
    expect([...window.pins()]).toEqual([['PLAN', 'First the writer.']]);
    expect(window.unpin('PLAN')).toBe(true);
    expect(window.unpin('PLAN')).toBe(false);
    expect(window.systemPrompt().content).toBe('You are a coder.');
  });

  test('an entry that the prompt contains is left out until the prompt changes', () => {
    const window = create({ systemPrompt: 'Story: Add a CSV export. Be brief.' });
    window.pin('STORY', 'Add a CSV export.');
    expect(window.systemPrompt().content).toBe('Story: Add a CSV export. Be brief.');
    window.resetSystemPrompt('You are coding.');
    expect(window.systemPrompt().content).toBe('You are coding.\n\n**[STORY]:** "Add a CSV export."');
  });

  test('an entry that another entry contains is left out', () => {
    const window = create();
    window.pin('A', 'Use the streaming writer.');
    window.pin('B', 'Decided: Use the streaming writer. Not the DOM.');
    window.pin('C', 'Use the streaming writer.');
    expect(window.systemPrompt().content.match(/Use the streaming writer/g)).toHaveLength(1);
  });

  test.each(['\n', '  ', ''])(
    'of entries that differ in white space (%j) one is said, in either order',
    (space) => {
      const text = 'Use tokens, never cookies.';
      for (const texts of [
        [text, text + space],
        [text + space, text],
        [space + text, text + space],
      ]) {
        const window = create();
        for (const [index, each] of texts.entries()) window.pin(`PIN ${index}`, each);
        expect(window.systemPrompt().content.split(text)).toHaveLength(2);
        expect(window.systemPrompt().content).toContain('**[PIN 0]:**');
      }
    },
  );

  test('a short entry does not match part of a word', () => {
    const window = create({ systemPrompt: 'You know the interchangeable formats.' });
    window.pin('VERDICT', 'no');
    window.pin('FORMAT', 'interchangeable format');
    expect(window.systemPrompt().content).toContain('**[VERDICT]:** "no"');
    expect(window.systemPrompt().content).toContain('**[FORMAT]:** "interchangeable format"');
  });
});

describe('[003/2] no text is in the prompt and in the conversation', () => {
  const story =
    'As an accountant I want to export every report as CSV with a header line, in the encoding of my locale.';
  const template = (data: { story: string; plan: string }): string =>
    `You are in CODING.\n\n## Story\n${data.story}\n\n## Plan\n${data.plan}`;

  test('a message that the prompt contains becomes a pointer, and returns with the next prompt', () => {
    const window = create({ systemPrompt: 'You are in PLANNING.' });
    window.append('user', story);
    window.append('assistant', 'I shall plan it.');
    expect(window.conversation()[0]).toEqual({ role: 'user', content: story });
    window.resetSystemPrompt(template({ story, plan: 'Writer, then command.' }));
    expect(window.conversation()[0]).toEqual({
      role: 'user',
      content: '[In the system prompt: "As an accountant I want to export every …"]',
    });
    window.resetSystemPrompt('You are in PLANNING.');
    expect(window.conversation()[0]).toEqual({ role: 'user', content: story });
  });

  test('so does a message that is pinned, before or after it is added', () => {
    const window = create();
    window.append('user', story);
    window.pin('STORY', story);
    window.append('system', story);
    expect(JSON.stringify(window.messages()).split(story)).toHaveLength(2);
    expect(window.conversation()).toHaveLength(2);
  });

  test('assistant messages, tool results and short messages are never replaced', () => {
    const window = create({ systemPrompt: `${story} Go on.` });
    window.append('assistant', story);
    window.append('tool', story);
    window.append('user', 'Go on.');
    expect(window.conversation().map(({ content }) => content)).toEqual([story, story, 'Go on.']);
  });

  test('the conversation is never rendered into the prompt', async () => {
    const window = create({ onCompacted: () => 'Position: coding' });
    for (let n = 0; n < 20; n++) window.append(n % 2 ? 'assistant' : 'user', long(`message ${n}`));
    await window.compact(600);
    expect(window.systemPrompt().content).toBe('You are a coder.');
  });
});

describe('the summary', () => {
  const fill = (window: ReturnType<typeof create>, from: number, to: number): void => {
    for (let n = from; n <= to; n++) window.append(n % 2 ? 'user' : 'assistant', long(`message ${n}`));
  };

  test('is at index 1; the next summary includes and replaces it', async () => {
    const asked: string[][] = [];
    const window = create({
      summarise: async (messages) => {
        asked.push(messages.map(({ content }) => String(content).slice(0, 60)));
        return `Summary ${asked.length}`;
      },
    });
    fill(window, 1, 9);
    expect(await window.compact(800)).toMatchObject({ summarised: true, dropped: 7 });
    expect(window.conversation()[0]?.content).toBe(
      '[Earlier conversation: 7 messages, summarised]\nSummary 1',
    );
    fill(window, 10, 15);
    expect(await window.compact(800)).toMatchObject({ summarised: true, dropped: 6 });
    expect(window.conversation()[0]?.content).toBe(
      '[Earlier conversation: 13 messages, summarised]\nSummary 2',
    );
    expect(asked[1]?.[0]).toBe('[Earlier conversation: 7 messages, summarised]\nSummary 1');
    expect(asked[1]).toHaveLength(7);
    expect(JSON.stringify(window.messages())).not.toContain('Summary 1');
  });

  test.each([
    ['fails', 'summary_failed', () => Promise.reject(new Error('overloaded'))],
    [
      'throws at once',
      'summary_failed',
      () => {
        throw new Error('overloaded');
      },
    ],
    ['says nothing', 'summary_failed', () => Promise.resolve('  ')],
    ['says too much', 'summary_too_long', () => Promise.resolve('word '.repeat(300))],
  ])('where the summariser %s, the window slides and the result says why', async (_, code, summarise) => {
    const window = create({ summarise });
    fill(window, 1, 9);
    const result = await window.compact(800);
    expect(result).toMatchObject({ compacted: true, summarised: false, problems: [{ code }] });
    expect(result.after).toBeLessThanOrEqual(800);
    expect(window.conversation()[0]?.content).toBe(
      `[Earlier conversation: ${result.dropped} messages, left out]`,
    );
    expect(window.conversation()).toHaveLength(1 + 9 - result.dropped);
  });

  test('an earlier summary survives a failing summarizer', async () => {
    let works = true;
    const window = create({
      summarise: () =>
        works ? Promise.resolve('The parser is done.') : Promise.reject(new Error('overloaded')),
    });
    fill(window, 1, 9);
    await window.compact(800);
    works = false;
    fill(window, 10, 15);
    expect(await window.compact(800)).toMatchObject({
      summarised: false,
      problems: [{ code: 'summary_failed' }],
    });
    expect(window.conversation()[0]?.content).toBe(
      '[Earlier conversation: 12 messages, 7 of them summarised]\nThe parser is done.',
    );
    works = true;
    fill(window, 16, 21);
    expect(await window.compact(800)).toMatchObject({ summarised: true, dropped: 7 });
    expect(window.conversation()[0]?.content).toMatch(
      /^\[Earlier conversation: 19 messages, 14 of them summarised\]/,
    );
  });

  test('messages dropped before the first summary are not counted as summarized', async () => {
    let works = false;
    const window = create({
      summarise: () => (works ? Promise.resolve('Summary') : Promise.reject(new Error('overloaded'))),
    });
    fill(window, 1, 9);
    await window.compact(800);
    works = true;
    fill(window, 10, 15);
    await window.compact(800);
    expect(window.conversation()[0]?.content).toBe(
      '[Earlier conversation: 13 messages, 7 of them summarised]\nSummary',
    );
  });

  test('that does not fit a lower limit is created again from messages that the summarizer sees', async () => {
    let asked = 0;
    let told = 0;
    const window = create({
      summarise: async () => (++asked === 1 ? 'word '.repeat(200) : 'Shorter'),
      onCompacted: () => {
        told += 1;
        return undefined;
      },
    });
    window.append('user', 'x'.repeat(8000));
    for (let n = 0; n < 2; n++) window.append('user', 'Go on.');
    await window.compact(2000);
    for (let n = 0; n < 4; n++) window.append('user', 'Go on.');
    const { total } = window.tokens();
    expect(await window.compact(total - 1)).toMatchObject({ summarised: true, problems: [] });
    expect([asked, told]).toEqual([2, 2]);
  });

  test('messages appended while the summarizer works stay', async () => {
    const window = create({
      summarise: async () => {
        window.append('user', 'And one more thing');
        return 'Summary';
      },
    });
    fill(window, 1, 9);
    await window.compact(800);
    expect(window.conversation().at(-1)?.content).toBe('And one more thing');
    expect(window.conversation()).toHaveLength(1 + 2 + 1);
  });

  test('a clear while the summarizer works wins', async () => {
    let told = 0;
    const window = create({
      summarise: async () => {
        window.clear();
        return 'Summary of what was cleared';
      },
      onCompacted: () => {
        told += 1;
        return 'State of what was cleared';
      },
    });
    fill(window, 1, 9);
    expect(await window.compact(800)).toMatchObject({ compacted: false });
    expect(window.messages()).toEqual([window.systemPrompt()]);
    expect(told).toBe(0);
  });

  test('two concurrent compactions act as one', async () => {
    let asked = 0;
    const window = create({ summarise: async () => `Summary ${++asked}` });
    fill(window, 1, 9);
    const [first, second] = await Promise.all([window.compact(800), window.compact(800)]);
    expect([first?.compacted, second?.compacted, asked]).toEqual([true, false, 1]);
  });
});

test('where there is no room to say that messages went away, the result says so and the number is kept', async () => {
  const window = create();
  for (let n = 1; n <= 20; n++) window.append('user', `message ${n} ${'x'.repeat(60)}`);
  const { dropped } = await window.compact(200);
  expect(window.conversation()[0]?.content).toBe(`[Earlier conversation: ${dropped} messages, left out]`);
  window.append('user', 'y'.repeat(640));
  const second = await window.compact(200);
  expect(second.problems).toMatchObject([{ code: 'notice_left_out' }]);
  expect(JSON.stringify(window.conversation())).not.toContain('Earlier conversation');
  for (let n = 0; n < 3; n++) window.append('user', 'Go on.');
  const third = await window.compact(100);
  expect(third).toMatchObject({ problems: [] });
  expect(window.conversation()[0]?.content).toBe(
    `[Earlier conversation: ${dropped + second.dropped + third.dropped} messages, left out]`,
  );
});

describe('tokens', () => {
  test('are counted for the prompt and the conversation', () => {
    const window = create();
    window.append('user', 'x'.repeat(40));
    expect(window.tokens()).toEqual({ total: 22, systemPrompt: 8, conversation: 14 });
  });

  test('are estimated by default, rather too high, and higher for Chinese', () => {
    const window = createContextWindow({ systemPrompt: '' });
    window.append('user', 'The quick brown fox jumps over the lazy dog');
    const english = window.tokens().conversation;
    expect(english).toBeGreaterThan(9);
    expect(english).toBeLessThan(25);
    window.append('user', '敏捷的棕色狐狸跳过懒狗');
    expect(window.tokens().conversation - english).toBeGreaterThan(10);
  });
});

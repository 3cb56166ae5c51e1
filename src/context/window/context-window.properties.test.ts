import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  check,
  checkCompaction,
  checkEarlierNotice,
  checkSummarised,
  countTokens,
  fail,
  type Message,
} from '../../../test/kit/window-checks.ts';
import type { Compaction } from './compaction.ts';
import { createContextWindow } from './context-window.ts';
import type { WindowMessage } from './message.ts';

type Step =
  | { do: 'append'; role: 'user' | 'assistant' | 'system'; size: number }
  | { do: 'chat'; messages: number }
  | { do: 'call'; ids: number; size: number; asks: boolean; speaks: boolean }
  | { do: 'decide'; which: 'all' | 'first'; waits: boolean }
  | { do: 'loop'; size: number; meanwhile: boolean }
  | { do: 'answer'; which: 'all' | 'first' | 'orphan'; size: number; together: boolean }
  | { do: 'pin'; key: string; size: number; text: 'new' | 'said' | 'pinned'; space: string }
  | { do: 'unpin'; key: string }
  | { do: 'reset'; size: number; said: boolean }
  | { do: 'repeat' }
  | { do: 'clear' }
  | { do: 'compact'; limit: number };

const size = fc.integer({ min: 80, max: 1200 });
const short = fc.integer({ min: 80, max: 240 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      role: fc.constantFrom('user', 'assistant', 'system'),
      size,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('chat' as const), messages: fc.integer({ min: 5, max: 20 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      ids: fc.integer({ min: 1, max: 3 }),
      size,
      asks: fc.boolean(),
      speaks: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      which: fc.constantFrom('all', 'first'),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('loop' as const), size, meanwhile: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: fc.constantFrom('all', 'all', 'first', 'orphan'),
      size,
      together: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pin' as const),
      key: fc.constantFrom('A', 'B'),
      size: short,
      text: fc.constantFrom('new', 'said', 'pinned'),
      space: fc.constantFrom('', ' ', '\n'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unpin' as const), key: fc.constantFrom('A', 'B') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), size: short, said: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('compact' as const), limit: fc.integer({ min: 100, max: 1500 }) }),
  },
);

/** Rare in random sequences: a first state that needs more room than reserved, then the same state again. */
const stateNeedsRoom: Step[] = [
  { do: 'chat', messages: 40 },
  { do: 'compact', limit: 600 },
  { do: 'chat', messages: 6 },
  { do: 'compact', limit: 600 },
];

const summaries = fc.constantFrom('none', 'short', 'long', 'fails', 'random' as const);

test('[003/1] index 0, pairs, the last two and the limit hold through any sequence of calls, and no text is there twice', async () => {
  const seen: Record<string, number> & { compacted: number } = { compacted: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 5, maxLength: 60, size: 'max' }),
      summaries,
      fc.constantFrom(undefined, [0.1], [0.8], [0.1, 0.8, 2]),
      async (sequence, summary, states) => {
        for (const { compacted, problems } of await play(sequence, summary, states)) {
          if (compacted) seen.compacted += 1;
          for (const { code } of problems) seen[code] = (seen[code] ?? 0) + 1;
        }
      },
    ),
    {
      numRuns: 120,
      examples: [
        [stateNeedsRoom, 'short', [0.8]],
        [stateNeedsRoom, 'none', [0.8]],
      ],
    },
  );
  expect(seen.compacted).toBeGreaterThan(100);
  expect(Object.keys(seen).sort()).toEqual([
    'compacted',
    'dropped_unsummarised',
    'notice_left_out',
    'over_limit',
    'state_left_out',
    'summary_failed',
    'summary_left_out',
    'summary_too_long',
  ]);
});

async function play(
  sequence: Step[],
  summaryKind: string,
  /** State sizes as shares of the limit. */
  states: readonly number[] | undefined,
): Promise<Compaction[]> {
  const compactions: Compaction[] = [];
  let serial = 0;
  /** Every text with the number of times it was added; texts are unique, so a second occurrence is a repetition. */
  const texts = new Map<string, number>();
  const fresh = (length: number): string => {
    const text = `<${++serial}> ${'abcdefgh '.repeat(length / 9)}</${serial}>`.padEnd(80, '.');
    texts.set(text, 1);
    return text;
  };
  let prompt = fresh(100);
  const pinned = new Map<string, string>();
  const said: string[] = [];
  let open: string[] = [];
  let asked: string[] = [];
  let state = '';
  let limit = 0;
  let callbacks = 0;
  const told = { gone: 0, summarised: 0 };
  let summarising: readonly WindowMessage[] = [];
  const summarise = async (messages: readonly WindowMessage[]): Promise<string> => {
    if (summaryKind === 'fails' || (summaryKind === 'random' && serial % 2 === 0))
      throw new Error('overloaded');
    if (summaryKind === 'long') return 'word '.repeat(2000);
    summarising = messages;
    return fresh(100 + messages.length);
  };
  const window = createContextWindow<Message>({
    systemPrompt: prompt,
    countTokens,
    ...(summaryKind === 'none' ? {} : { summarise }),
    onCompacted: () => {
      callbacks += 1;
      if (states) state = `STATE ${fresh(4 * limit * (states[serial % states.length] ?? 0))}`;
      return state;
    },
  });

  for (const step of sequence) {
    const before = window.conversation();
    if (step.do === 'append') {
      if (step.role === 'assistant') open = [];
      const text = fresh(step.size);
      if (step.role === 'user') said.push(text);
      window.append(step.role, text);
    }
    if (step.do === 'chat') for (let n = 0; n < step.messages; n++) window.append('user', fresh(20));
    if (step.do === 'repeat') {
      const text = pinned.get('A') ?? prompt;
      texts.set(text, (texts.get(text) ?? 0) + 1);
      window.append('user', text);
    }
    if (step.do === 'call') {
      open = Array.from({ length: step.ids }, () => `call-${++serial}`);
      asked = step.asks ? [...open] : [];
      const request = { type: 'tool-approval-request' };
      window.append('assistant', [
        ...(step.speaks ? [{ type: 'text', text: fresh(step.size) }] : []),
        ...open.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'read' })),
        ...asked.map((toolCallId) => ({ ...request, approvalId: `of ${toolCallId}`, toolCallId })),
      ]);
    }
    if (step.do === 'decide' && asked.length > 0) {
      const ids = step.which === 'all' ? asked : asked.slice(0, 1);
      asked = [];
      if (step.waits) window.append('user', fresh(100));
      const content = ids.map((id) => ({ type: 'tool-approval-response', approvalId: `of ${id}` }));
      window.append('tool', content);
      const awaited = ids.every((id) => open.includes(id));
      const last = JSON.stringify(window.conversation().at(-1));
      if (awaited && last !== JSON.stringify({ role: 'tool', content }))
        fail('a loop would not find the approval', last);
    }
    if (step.do === 'loop') {
      const handed = window.conversation();
      window.sync(handed);
      const call = { toolCallId: `call-${++serial}`, toolName: 'read' };
      const output = { type: 'text' as const, value: fresh(step.size) };
      const word = fresh(100);
      if (step.meanwhile) window.append('user', word);
      const added: Message[] = [
        { role: 'assistant', content: [{ type: 'tool-call', ...call }] },
        { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
      ];
      window.sync([...handed, ...added]);
      const expected =
        step.meanwhile && handed.length > 0 ? [...added, { role: 'user', content: word }] : added;
      const last = window.conversation().slice(-expected.length);
      if (JSON.stringify(last) !== JSON.stringify(expected)) fail('what a loop added is misplaced', last);
      // A list without any known message is another conversation.
      if (handed.length === 0) Object.assign(told, { gone: 0, summarised: 0 });
      open = [];
    }
    if (step.do === 'answer') {
      const ids =
        step.which === 'orphan' ? [`lost-${++serial}`] : step.which === 'first' ? open.slice(0, 1) : open;
      open = open.filter((id) => !ids.includes(id));
      const results = ids.map((toolCallId) => ({
        type: 'tool-result',
        toolCallId,
        toolName: 'read',
        output: { type: 'text' as const, value: fresh(step.size) },
      }));
      if (step.together && results.length > 0) window.append('tool', results);
      else for (const result of results) window.append('tool', [result]);
    }
    if (step.do === 'pin') {
      const known = { new: undefined, said: said.at(-1), pinned: [...pinned.values()][0] }[step.text];
      const text = known ?? fresh(step.size);
      window.pin(step.key, text + step.space);
      pinned.set(step.key, text);
    }
    if (step.do === 'unpin') {
      window.unpin(step.key);
      pinned.delete(step.key);
    }
    if (step.do === 'reset') {
      // The old way: a template that renders the conversation.
      prompt = (step.said ? said.at(-1) : undefined) ?? fresh(step.size);
      window.resetSystemPrompt(prompt);
    }
    if (step.do === 'clear') {
      window.clear();
      open = [];
      Object.assign(told, { gone: 0, summarised: 0 });
    }
    if (step.do === 'compact') {
      summarising = [];
      callbacks = 0;
      limit = step.limit;
      const result = await window.compact(limit);
      checkCompaction(window, before, result, limit);
      if (callbacks !== (result.dropped > 0 ? 1 : 0)) fail('the callback was not called once', callbacks);
      checkEarlierNotice(window, result, told, summarising);
      if (summaryKind !== 'none') checkSummarised(before, window.conversation(), result, summarising);
      // An undecided call is removed once a message follows it.
      if (result.dropped > 0) asked = [];
      compactions.push(result);
    }
    check(window, prompt, pinned, texts, state);
  }
  return compactions;
}

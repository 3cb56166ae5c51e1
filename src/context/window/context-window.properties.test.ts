import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Compaction } from './compaction.ts';
import { type ContextWindow, createContextWindow } from './context-window.ts';
import type { WindowMessage } from './message.ts';

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const tokensOf = (message: WindowMessage): number =>
  4 +
  (typeof message.content === 'string'
    ? countTokens(message.content)
    : message.content.reduce((sum, part) => sum + countTokens(textIn(part)), 0));

interface Part {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  output?: { type: 'text'; value: string };
}
type Message = { role: 'system' | 'user' | 'assistant' | 'tool'; content: string | Part[] };

/** As the window counts parts. */
function textIn(part: object): string {
  const { type, text, toolName, output } = part as Part;
  if (type === 'text') return text ?? '';
  return output ? `${toolName} ${output.value}` : JSON.stringify(part);
}

type Step =
  | { do: 'append'; role: 'user' | 'assistant' | 'system'; size: number }
  | { do: 'call'; ids: number; size: number }
  | { do: 'answer'; which: 'all' | 'first' | 'orphan'; size: number; together: boolean }
  | { do: 'pin'; key: string; size: number; said: boolean }
  | { do: 'unpin'; key: string }
  | { do: 'reset'; size: number; said: boolean }
  | { do: 'repeat' }
  | { do: 'clear' }
  | { do: 'compact'; limit: number };

const size = fc.integer({ min: 80, max: 1200 });
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
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('call' as const), ids: fc.integer({ min: 1, max: 3 }), size }),
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
      size,
      said: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unpin' as const), key: fc.constantFrom('A', 'B') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), size, said: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('compact' as const), limit: fc.integer({ min: 100, max: 2500 }) }),
  },
);

const summaries = fc.constantFrom('none', 'short', 'long', 'fails', 'random' as const);

test('[003/1] index 0, pairs, the last two and the limit hold through any sequence of calls, and no text is there twice', async () => {
  const seen: Record<string, number> & { compacted: number } = { compacted: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 5, maxLength: 60, size: 'max' }),
      summaries,
      fc.boolean(),
      async (sequence, summary, withState) => {
        for (const { compacted, problems } of await play(sequence, summary, withState)) {
          if (compacted) seen.compacted += 1;
          for (const { code } of problems) seen[code] = (seen[code] ?? 0) + 1;
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(seen.compacted).toBeGreaterThan(200);
  expect(Object.keys(seen).sort()).toEqual([
    'compacted',
    'over_limit',
    'state_left_out',
    'summary_failed',
    'summary_left_out',
    'summary_too_long',
  ]);
});

async function play(sequence: Step[], summaryKind: string, withState: boolean): Promise<Compaction[]> {
  const compactions: Compaction[] = [];
  let serial = 0;
  /** Every text, and how often it was said: one of its kind, so that a repetition is one. */
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
  let state = '';
  const summarise = async (messages: readonly WindowMessage[]): Promise<string> => {
    if (summaryKind === 'fails' || (summaryKind === 'random' && serial % 2 === 0))
      throw new Error('overloaded');
    if (summaryKind === 'long') return 'word '.repeat(2000);
    return fresh(100 + messages.length);
  };
  const window = createContextWindow<Message>({
    systemPrompt: prompt,
    countTokens,
    ...(summaryKind === 'none' ? {} : { summarise }),
    ...(withState
      ? { onCompacted: () => (state = `STATE ${fresh([120, 1500, 5000][serial % 3] ?? 0)}`) }
      : {}),
  });

  for (const step of sequence) {
    const before = window.conversation();
    if (step.do === 'append') {
      const text = fresh(step.size);
      if (step.role === 'user') said.push(text);
      window.append(step.role, text);
    }
    if (step.do === 'repeat') {
      const text = pinned.get('A') ?? prompt;
      texts.set(text, (texts.get(text) ?? 0) + 1);
      window.append('user', text);
    }
    if (step.do === 'call') {
      open = Array.from({ length: step.ids }, () => `call-${++serial}`);
      const calls = open.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'read' }));
      window.append('assistant', [{ type: 'text', text: fresh(step.size) }, ...calls]);
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
      const text = (step.said ? said.at(-1) : undefined) ?? fresh(step.size);
      window.pin(step.key, text);
      pinned.set(step.key, text);
    }
    if (step.do === 'unpin') {
      window.unpin(step.key);
      pinned.delete(step.key);
    }
    if (step.do === 'reset') {
      // The old way: a template that renders what was said.
      prompt = (step.said ? said.at(-1) : undefined) ?? fresh(step.size);
      window.resetSystemPrompt(prompt);
    }
    if (step.do === 'clear') {
      window.clear();
      open = [];
    }
    if (step.do === 'compact') {
      const result = await window.compact(step.limit);
      checkCompaction(window, before, result, step.limit);
      compactions.push(result);
    }
    check(window, prompt, pinned, texts, state);
  }
  return compactions;
}

const fail = (what: string, detail?: unknown): never => {
  throw new Error(`${what} ${JSON.stringify(detail)}`);
};

function check(
  window: ContextWindow<Message>,
  prompt: string,
  pinned: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, number>,
  state: string,
): void {
  const messages = window.messages();
  const [first] = messages;
  const zero = first?.role === 'system' ? String(first.content) : '';
  if (!zero.startsWith(prompt)) fail('index 0 is not the prompt', first);
  for (const text of pinned.values()) if (!zero.includes(text)) fail('a pinned entry is gone', text);
  const whole = JSON.stringify(messages);
  for (const [text, times] of texts) {
    if (whole.split(text).length - 1 > (zero.includes(text) ? 1 : times)) fail('a text is there twice', text);
  }
  const states = whole.match(/STATE <\d+>/g) ?? [];
  if (states.length > 1 || !states.every((each) => state.startsWith(each))) fail('states pile up', states);
  const counted = messages.reduce((sum, message) => sum + tokensOf(message), 0);
  if (counted !== window.tokens().total) fail('tokens are miscounted', [counted, window.tokens().total]);
  checkPairs(messages);
}

/** As the strictest provider does: results directly after their calls, all of them, none twice. */
function checkPairs(messages: readonly WindowMessage[]): void {
  let open: string[] = [];
  messages.forEach((message, index) => {
    const parts = typeof message.content === 'string' ? [] : (message.content as Part[]);
    if (parts.length === 0 && message.content.length === 0) fail('an empty message', message);
    const ids = (type: string): string[] =>
      parts.flatMap((part) => (part.type === type ? (part.toolCallId ?? []) : []));
    for (const id of ids('tool-result')) {
      if (!open.includes(id)) fail('a result without its call', messages.slice(index - 1, index + 1));
      open = open.filter((each) => each !== id);
    }
    if (message.role !== 'tool') {
      if (open.length > 0) fail('a call without its result', messages.slice(index - 1, index + 1));
      open = ids('tool-call');
    }
  });
}

function checkCompaction(
  window: ContextWindow<Message>,
  before: readonly WindowMessage[],
  result: Compaction,
  limit: number,
): void {
  const after = window.conversation();
  const lastTwo = JSON.stringify(before.filter((message) => !isNote(message)).slice(-2));
  const lastTwoAfter = JSON.stringify(after.filter((message) => !isNote(message)).slice(-2));
  if (lastTwo !== lastTwoAfter) fail('the last two messages are gone', [lastTwo, lastTwoAfter]);
  const spoken = (messages: readonly WindowMessage[]): number =>
    messages.filter((each) => !isNote(each)).length;
  if (spoken(before) - result.dropped !== spoken(after)) fail('more or fewer went away than said', result);
  if (result.after !== window.tokens().total) fail('the result is not what is there', result);
  const said = result.problems.some(({ code }) => code === 'over_limit');
  if (result.after <= limit) return said ? fail('over the limit was said for nothing', result) : undefined;
  if (!said) fail('over the limit, and nobody says so', result);
  // Nothing is left that could have gone: the last two, and the calls and results that belong to them.
  let first = Math.max(0, after.length - 2);
  while (first > 0 && after[first]?.role === 'tool') first -= 1;
  if (first > 0) fail('over the limit although something could go', [first, after.length]);
}

const isNote = ({ role, content }: WindowMessage): boolean =>
  role === 'user' && String(content).startsWith('[Earlier conversation: ');

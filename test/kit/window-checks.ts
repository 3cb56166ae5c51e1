/** Invariants of every window, for random sequences of calls. */
import type { Compaction } from '../../src/context/window/compaction.ts';
import type { ContextWindow } from '../../src/context/window/context-window.ts';
import type { WindowMessage } from '../../src/context/window/message.ts';

export const countTokens = (text: string): number => Math.ceil(text.length / 4);
const tokensOf = (message: WindowMessage): number =>
  4 +
  (typeof message.content === 'string'
    ? countTokens(message.content)
    : (message.content ?? []).reduce((sum, part) => sum + countTokens(textIn(part)), 0));

interface Part {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  approvalId?: string;
  output?: { type: 'text'; value: string };
}
export type Message = { role: 'system' | 'user' | 'assistant' | 'tool'; content: string | Part[] };

/** Counts parts as the window does. */
function textIn(part: object): string {
  const { type, text, toolName, output } = part as Part;
  if (type === 'text') return text ?? '';
  return output ? `${toolName} ${output.value}` : JSON.stringify(part);
}

export const fail = (what: string, detail?: unknown): never => {
  throw new Error(`${what} ${JSON.stringify(detail)}`);
};

export function check(
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

/** The rules of the strictest provider: all results directly after their calls, none twice. */
function checkPairs(messages: readonly WindowMessage[]): void {
  let open: string[] = [];
  const requests = new Set<string>();
  messages.forEach((message, index) => {
    const parts = typeof message.content === 'string' ? [] : (message.content as Part[]);
    const approvals = (type: string): string[] =>
      parts.flatMap((part) => (part.type === `tool-approval-${type}` ? (part.approvalId ?? []) : []));
    // Providers do not see approval requests, so the message needs another part.
    const seen = parts.length - approvals('request').length;
    if (typeof message.content === 'string' ? message.content === '' : seen === 0)
      fail('an empty message', message);
    for (const id of approvals('request')) requests.add(id);
    for (const id of approvals('response')) if (!requests.has(id)) fail('a response without its request', id);
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

export function checkCompaction(
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
  if (spoken(before) - result.dropped !== spoken(after))
    fail('the number of dropped messages is wrong', result);
  if (result.after !== window.tokens().total) fail('the token count of the result is wrong', result);
  const reported = result.problems.some(({ code }) => code === 'over_limit');
  if (result.after <= limit)
    return reported ? fail('over_limit was reported within the limit', result) : undefined;
  if (!reported) fail('over the limit without a report', result);
  // Only the last two messages and their calls and results may be left.
  let first = Math.max(0, after.length - 2);
  while (first > 0 && after[first]?.role === 'tool') first -= 1;
  if (first > 0) fail('over the limit although more could be dropped', [first, after.length]);
}

/** Index 1 counts the dropped and the summarized messages, unless the result reports `notice_left_out`. */
export function checkEarlierNotice(
  window: ContextWindow<Message>,
  { problems, compacted, dropped }: Compaction,
  counts: { gone: number; summarised: number },
  summarising: readonly WindowMessage[],
): void {
  if (!compacted) return;
  counts.gone += dropped;
  const rejected = problems.some(({ code }) => code === 'summary_too_long');
  if (!rejected) counts.summarised += summarising.filter((message) => !isNote(message)).length;
  const note = window
    .conversation()
    .filter(isNote)
    .map(({ content }) => String(content).split('\n')[0])[0];
  const omitted = problems.some(({ code }) => code === 'notice_left_out');
  if (counts.gone > 0 && (note === undefined) !== omitted)
    fail('index 1 is missing without a report', [note, problems]);
  if (!note?.includes('summarised')) counts.summarised = 0;
  if (note === undefined) return;
  const { gone, summarised } = counts;
  const some = summarised < gone ? `${summarised} of them summarised` : 'summarised';
  const what = `${gone} ${gone === 1 ? 'message' : 'messages'}, ${summarised === 0 ? 'left out' : some}`;
  if (note !== `[Earlier conversation: ${what}]`) fail('index 1 has wrong counts', [note, what]);
}

/** The summarizer saw every dropped message, or the result reports a problem. */
export function checkSummarised(
  before: readonly WindowMessage[],
  after: readonly WindowMessage[],
  { summarised, problems }: Compaction,
  summarising: readonly WindowMessage[],
): void {
  const accounted = new Set([...after, ...summarising].map(({ content }) => JSON.stringify(content)));
  const lost = before.filter(
    (message) => !isNote(message) && !accounted.has(JSON.stringify(message.content)),
  );
  if (lost.length === 0) return;
  const reported = problems.some(({ code }) =>
    ['summary_failed', 'summary_too_long', 'dropped_unsummarised'].includes(code),
  );
  if (summarised || !reported) fail('messages were dropped that no summarizer saw', [problems, lost.length]);
}

const isNote = ({ role, content }: WindowMessage): boolean =>
  role === 'user' && String(content).startsWith('[Earlier conversation: ');

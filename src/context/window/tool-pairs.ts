import { field, partsOf, type WindowMessage } from './message.ts';

/** Part types of the AI SDK and of Anthropic. */
const callIdOf: Record<string, string> = { 'tool-call': 'toolCallId', tool_use: 'id' };
const resultIdOf: Record<string, string> = { 'tool-result': 'toolCallId', tool_result: 'tool_use_id' };
const requestIdOf = { 'tool-approval-request': 'approvalId' };
const requestedCallOf = { 'tool-approval-request': 'toolCallId' };
const responseIdOf = { 'tool-approval-response': 'approvalId' };

/**
 * The messages in a form that providers accept: each result directly after its call, no result without a call, no
 * unanswered call, no approval of a missing call. Messages between a call and its results move behind the results.
 * Calls at the very end may still be open; messages after an approval response move before its call, since loops read
 * approvals from the last message. `origins` records which message a shortened one comes from.
 */
export function sendable<M extends WindowMessage>(
  messages: readonly M[],
  origins: WeakMap<object, M> = new WeakMap(),
): M[] {
  const sent: (M | undefined)[] = [];
  const open = new Map<string, number>();
  const byProvider = new Set<string>();
  /** Approval id to call id. */
  const approvals = new Map<string, string>();
  const decided = new Set<string>();
  let held: M[] = [];

  const release = (): void => {
    sent.push(...held);
    held = [];
  };
  const shorten = (message: M, drops: (part: object) => boolean): M | undefined => {
    const shorter = without(message, drops);
    if (shorter && shorter !== message) origins.set(shorter, origins.get(message) ?? message);
    return shorter;
  };
  /** The call that a response decides; empty if there was no request. */
  const decidedCall = (part: object): string | undefined => {
    const id = idIn(part, responseIdOf);
    return id === undefined ? undefined : (approvals.get(id) ?? '');
  };
  const abandon = (which: (id: string) => boolean = () => true): void => {
    const gone = new Map([...open].filter(([id]) => which(id)));
    for (let index = Math.min(...gone.values()); index < sent.length; index++) {
      const message = sent[index];
      const drops = (part: object): boolean => {
        const call = idIn(part, callIdOf) ?? idIn(part, requestedCallOf);
        return call === undefined ? gone.has(decidedCall(part) ?? '') : gone.get(call) === index;
      };
      sent[index] = message && shorten(message, drops);
    }
    for (const id of gone.keys()) open.delete(id);
  };

  for (const each of messages) {
    const message = shorten(each, (part) => {
      const id = idIn(part, resultIdOf) ?? idIn(part, requestedCallOf) ?? decidedCall(part);
      return id !== undefined && !open.has(id) && !byProvider.has(id) && !callsIn(each).includes(id);
    });
    if (!message) continue;
    const results = resultsIn(message);
    const answers = results.filter((id) => open.delete(id)).length > 0;
    if (!answers && open.size > 0) {
      if (message.role === 'user' || message.role === 'system') {
        held.push(message);
        continue;
      }
      if (message.role === 'assistant') {
        abandon();
        release();
      }
    }
    sent.push(message);
    if (open.size === 0) release();
    for (const part of partsOf(message)) {
      const approval = idIn(part, requestIdOf);
      if (approval !== undefined) approvals.set(approval, idIn(part, requestedCallOf) ?? '');
      decided.add(decidedCall(part) ?? '');
      const id = idIn(part, callIdOf);
      if (id === undefined || results.includes(id)) continue;
      decided.delete(id);
      if (field(part, 'providerExecuted') === true) byProvider.add(id);
      else open.set(id, sent.length - 1);
    }
  }
  if (held.length > 0) {
    abandon((id) => !decided.has(id));
    sent.splice(Math.min(sent.length, ...open.values()), 0, ...held);
  }
  return sent.filter((message) => message !== undefined);
}

/** The first index of each group of messages that belong together: the window may be cut there. */
export function groupStarts(messages: readonly WindowMessage[]): number[] {
  const starts: number[] = [];
  const calledAt = new Map<string, number>();
  const requestedAt = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const id of callsIn(message)) calledAt.set(id, index);
    for (const id of idsIn(message, requestIdOf)) requestedAt.set(id, index);
    const partners = [
      ...resultsIn(message).map((id) => calledAt.get(id) ?? index),
      ...idsIn(message, responseIdOf).map((id) => requestedAt.get(id) ?? index),
    ];
    const first = Math.min(message.role === 'tool' ? Math.max(0, index - 1) : index, ...partners);
    if (first === index) starts.push(index);
    else while ((starts.at(-1) ?? 0) > first) starts.pop();
  });
  return starts;
}

/** The message without those parts; undefined if nothing is left to send. */
function without<M extends WindowMessage>(message: M, drops: (part: object) => boolean): M | undefined {
  const parts = partsOf(message);
  const kept = parts.filter((part) => !drops(part));
  if (kept.length === parts.length) return message;
  if (kept.every((part) => field(part, 'type') === 'reasoning')) return undefined;
  // A subset of the message's own parts keeps its type.
  return { ...message, content: kept } as M;
}

const callsIn = (message: WindowMessage): string[] => idsIn(message, callIdOf);
const resultsIn = (message: WindowMessage): string[] => idsIn(message, resultIdOf);
const idsIn = (message: WindowMessage, names: Record<string, string>): string[] =>
  partsOf(message).flatMap((part) => idIn(part, names) ?? []);

function idIn(part: object, names: Record<string, string>): string | undefined {
  const type = field(part, 'type');
  const name = typeof type === 'string' && Object.hasOwn(names, type) ? names[type] : undefined;
  const id = name === undefined ? undefined : field(part, name);
  return typeof id === 'string' ? id : undefined;
}

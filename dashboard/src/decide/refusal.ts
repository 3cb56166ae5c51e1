import { ApiError } from '../api/client.ts';

/** What went wrong and what to do about it, as a sentence or two. */
export function refusalOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const next = error instanceof ApiError && error.next ? error.next : '';
  if (next === '') return message;
  const sentence = `${next[0]?.toUpperCase()}${next.slice(1)}`;
  return `${message} ${/[.!?]$/.test(sentence) ? sentence : `${sentence}.`}`;
}

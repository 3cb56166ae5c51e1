import type { JSX } from 'react';
import { ApiError } from '../api/client.ts';
import css from './decide.module.css';

export function Refusal({ text }: { text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p className={css.refusal} role="alert">
      {text}
    </p>
  );
}

/** What went wrong and what to do about it, as a sentence or two. */
export function refusalOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const next = error instanceof ApiError && error.next ? error.next : '';
  if (next === '') return message;
  const sentence = `${next[0]?.toUpperCase()}${next.slice(1)}`;
  return `${message} ${/[.!?]$/.test(sentence) ? sentence : `${sentence}.`}`;
}

import type { LocalRuntime } from '../../runtime/index.ts';
import { bareMessage } from '../look/damage.ts';

type Problem = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>['problems'][number];

/** Findings of one kind on lines that follow each other. */
export interface Finding {
  kind: Problem['kind'];
  message: string;
  /** Of the journal, the first and the last. */
  lines?: [number, number];
  count: number;
}

/** Equal findings become one: a lost line makes every one after it unreadable. */
export function findingsOf(problems: readonly Problem[]): Finding[] {
  const found: Finding[] = [];
  for (const problem of problems) {
    const { kind, line } = problem;
    const message = bareMessage(problem).replace(/^batch \d+ /, '');
    const last = found.at(-1);
    if (last?.message === message && last.kind === kind && last.lines && line !== undefined) {
      last.lines = [last.lines[0], line];
      last.count += 1;
    } else found.push({ kind, message, ...(line === undefined ? {} : { lines: [line, line] }), count: 1 });
  }
  return found;
}

/** `line 3: …`, `lines 32–86: …`. */
export function sayFinding({ lines, message }: Finding, dash: string): string {
  if (!lines) return message;
  const [from, to] = lines;
  return `${from === to ? `line ${from}` : `lines ${from}${dash}${to}`}: ${message}`;
}

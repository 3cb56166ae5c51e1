import type { LocalRuntime } from '../../runtime/index.ts';

type Problem = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>['problems'][number];

/** Problems of one kind on consecutive lines. */
export interface Finding {
  kind: Problem['kind'];
  message: string;
  /** First and last line of the journal. */
  lines?: [number, number];
  count: number;
}

/** Merges equal problems: a missing line makes every later line unreadable. */
export function findingsOf(problems: readonly Problem[]): Finding[] {
  const found: Finding[] = [];
  for (const { kind, line, message } of problems) {
    const last = found.at(-1);
    if (last?.message === message && last.kind === kind && last.lines && line !== undefined) {
      last.lines = [last.lines[0], line];
      last.count += 1;
    } else found.push({ kind, message, ...(line === undefined ? {} : { lines: [line, line] }), count: 1 });
  }
  return found;
}

/** `line 3: …`, `lines 32–86: …`. */
export function formatFinding({ lines, message }: Finding, dash: string): string {
  if (!lines) return message;
  const [from, to] = lines;
  return `${from === to ? `line ${from}` : `lines ${from}${dash}${to}`}: ${message}`;
}

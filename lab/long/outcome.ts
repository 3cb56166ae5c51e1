/** The result of one suite. */
export interface Outcome {
  name: string;
  passed: boolean;
  /** Its inputs are missing. */
  notRun: boolean;
  seconds: number;
  tries: number;
  /** Counts and measurements of the suite. */
  figures: Record<string, unknown>;
  /** Commands that reproduce the failure. */
  replays: string[];
}

/** The last line of the output if it is JSON; otherwise the number of passed tests. */
export function figuresIn(output: string): Record<string, unknown> {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  try {
    const figures: unknown = JSON.parse(last);
    if (typeof figures === 'object' && figures !== null) return { ...figures };
  } catch {
    // Third-party programs print tables.
  }
  const tests = /^ *Tests .*?(\d+) passed/m.exec(output)?.[1];
  const score = /^All files *\| *([\d.]+)/m.exec(output)?.[1];
  return {
    ...(tests === undefined ? {} : { tests: Number(tests) }),
    ...(score === undefined ? {} : { score: Number(score) }),
  };
}

/** Property tests and scripts print one command per line. */
export function replaysIn(output: string): string[] {
  const lines = output.match(/^ *(?:STEPFAST_SEED=|npm run [\w-]+ -- ).*$/gm) ?? [];
  return [...new Set(lines.map((line) => line.trim()))];
}

export function tableOf(outcomes: readonly Outcome[]): string {
  const width = Math.max(...outcomes.map(({ name }) => name.length));
  const rows = outcomes.map(({ name, passed, notRun, seconds, tries, figures }) => {
    const result = passed ? 'ok' : notRun ? 'not run' : 'FAILED';
    const again = tries > 1 ? ` (${tries} tries)` : '';
    return `${name.padEnd(width)}  ${result.padEnd(7)}  ${String(seconds).padStart(5)} s${again}  ${keyFigures(figures)}`;
  });
  return rows.map((row) => row.trimEnd()).join('\n');
}

/** As many top-level numbers as fit on a line. */
function keyFigures(figures: Readonly<Record<string, unknown>>): string {
  let line = '';
  for (const [key, value] of Object.entries(figures)) {
    const next = `${line}${line === '' ? '' : ', '}${key} ${value}`;
    if (typeof value !== 'number' || next.length > 100) continue;
    line = next;
  }
  return line;
}

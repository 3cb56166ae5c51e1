import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeNoFollow } from '../../store/index.ts';

/**
 * Mark files: a hook starts a program only where the mark of its event exists, so that hooks cost a file test while
 * nothing is active. A mark exists as long as a reason lists it. Each reason is a separate file with the marks that it
 * needs, so that two processes never write the same file.
 */
export interface Marks {
  /** Idempotent; a known reason gets the new list. */
  want(reason: string, marks: readonly string[]): void;
  drop(reason: string): void;
  reasons(): string[];
}

/** Below `sessions`, which tree hashes exclude and git ignores. */
export const marksPath = join('sessions', 'marks');

const plain = /^[\w.-]{1,160}$/;

/** `directory` is the project's `.stepfast`. Creates nothing before the first reason. */
export function createMarks(directory: string): Marks {
  const folder = join(directory, marksPath);
  const because = join(folder, 'because');
  return { want, drop, reasons };

  function want(reason: string, marks: readonly string[]): void {
    if (!plain.test(reason)) return;
    mkdirSync(because, { recursive: true });
    const ignore = join(directory, 'sessions', '.gitignore');
    if (!existsSync(ignore)) writeNoFollow(ignore, '*\n');
    const [file, text] = [join(because, reason), `${marks.join('\n')}\n`];
    const before = read(file);
    // The reason first: a process that removes marks reads the reasons afterwards.
    if (before !== text) writeNoFollow(file, text);
    // A new reason removes no mark, so the other reasons need not be read.
    if (before === '' || before === text) make(marks);
    else settle();
  }

  function drop(reason: string): void {
    if (!plain.test(reason) || !existsSync(because)) return;
    rmSync(join(because, reason), { force: true });
    settle();
  }

  function reasons(): string[] {
    return names(because);
  }

  function settle(): void {
    const wanted = wantedNow();
    for (const mark of names(folder).filter((name) => name !== 'because' && !wanted.has(name)))
      rmSync(join(folder, mark), { force: true });
    make(wantedNow());
  }

  function make(marks: Iterable<string>): void {
    for (const mark of marks)
      if (plain.test(mark) && !existsSync(join(folder, mark))) writeNoFollow(join(folder, mark), '');
  }

  function wantedNow(): Set<string> {
    const lines = reasons().flatMap((reason) => read(join(because, reason)).split('\n'));
    return new Set(lines.filter((line) => plain.test(line) && line !== 'because'));
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

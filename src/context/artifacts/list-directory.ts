import { unlistedNames } from './allowed-path.ts';
import type { ArtifactFiles, DirectoryEntry } from './artifact-files.ts';
import type { ContainedPath, ReadFailure } from './open-contained.ts';
import { printable, sizeText } from './printable.ts';

const maxDepth = 2;
const maxLines = 200;
const maxEntries = 5_000;

/** Names and sizes below a directory, two levels deep. Reads no file and follows no link. */
export async function listDirectory(
  files: ArtifactFiles,
  target: ContainedPath,
): Promise<{ text: string; whole: boolean } | ReadFailure> {
  const lines: string[] = [];
  let rest = 0;
  const top = await files.list(target, maxEntries);
  if (!('entries' in top)) return top;

  const add = async (
    { entries, more }: { entries: DirectoryEntry[]; more: boolean },
    segments: readonly string[],
  ): Promise<void> => {
    const indent = '  '.repeat(segments.length - target.segments.length);
    for (const entry of sorted(entries)) {
      const inner = [...segments, entry.name];
      if (unlistedNames.has(entry.name) || target.problem(inner) !== undefined) continue;
      if (lines.length >= maxLines) {
        rest++;
        continue;
      }
      lines.push(`${indent}${lineOf(entry)}`);
      if (entry.kind !== 'directory' || inner.length - target.segments.length >= maxDepth) continue;
      const below = await files.list({ ...target, segments: inner }, maxEntries);
      if ('entries' in below) await add(below, inner);
    }
    if (more) lines.push(`${indent}… more than ${maxEntries} entries`);
  };
  await add(top, target.segments);
  if (rest > 0) lines.push(`… ${rest} more`);
  return { text: lines.length === 0 ? '(empty)' : lines.join('\n'), whole: rest === 0 && !top.more };
}

const sorted = (entries: DirectoryEntry[]): DirectoryEntry[] =>
  entries.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

function lineOf({ name, kind, size }: DirectoryEntry): string {
  const shown = printable(name);
  if (kind === 'directory') return `${shown}/`;
  return kind === 'file'
    ? `${shown}  ${sizeText(size)}`
    : `${shown}  (${kind === 'link' ? 'link' : 'not a file'})`;
}

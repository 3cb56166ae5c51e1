import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../runtime/index.ts';
import { hooksFolder } from './notebook.ts';

/** What hooks did that the journal has no event for, for `doctor` and `stats`. */
export type Logged =
  | { what: 'error'; event: string; message: string }
  | { what: 'injected' | 'repaired' | 'gave_up'; run: string; session: string; briefing: string; why: string }
  | { what: 'proven'; run: string; session: string; briefing: string; by: 'transcript' | 'handle' }
  | {
      what: 'compacted';
      run: string;
      session: string;
      trigger: string;
      /** Ids of the notes whose words the summary has, and of those that it lost. */
      kept: string[];
      lost: string[];
    }
  | { what: 'held' | 'allowed'; run: string; session: string; why: string }
  | { what: 'denied'; run: string; session: string; tool: string };

const maxBytes = 256 * 1024;

/** Never throws, and makes no folder: where nothing of Stepfast is, nothing is written. */
export function log(project: Pick<Project, 'directory'>, now: number, entry: Logged): void {
  try {
    const folder = hooksFolder(project);
    if (!existsSync(folder)) return;
    const file = join(folder, 'log.jsonl');
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(file, join(folder, 'log.1.jsonl'));
    appendFileSync(file, `${JSON.stringify({ now, ...entry })}\n`);
  } catch {
    // What cannot be told is not worth a session.
  }
}

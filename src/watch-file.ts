import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Waits for changes of a file. Reports may be missing, for instance on network file systems, so poll as well. */
export interface FileWatch {
  /** False if the platform reports nothing here: poll often. */
  readonly works: boolean;
  /** Resolves if the file changed since the last call, when it changes, on abort, or after `ms`. */
  next(ms: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Watches the name in its folder, so the file may be created, replaced or removed. */
export function watchFile(path: string): FileWatch {
  let changed = false;
  let wake = (): void => {};
  let watcher: FSWatcher | undefined;
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name !== null && name !== basename(path)) return;
      changed = true;
      wake();
    });
    // The folder was removed, for instance.
    watcher.on('error', close);
  } catch {
    // There is no folder, or the user may have no more watches.
  }
  return {
    get works() {
      return watcher !== undefined;
    },
    async next(ms, signal) {
      if (!changed && !signal?.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(end, ms);
          signal?.addEventListener('abort', end);
          wake = end;
          function end(): void {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            resolve();
          }
        });
      changed = false;
    },
    close,
  };
}

import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';

/** Bytes that wait for readers of streams, by token and project. */
export interface StreamBudget {
  add(principal: Principal, change: number): void;
  hasRoom(principal: Principal): boolean;
  /** Resolves when bytes were taken by a reader, or dropped. */
  changed(): Promise<void>;
}

export function createStreamBudget({ unreadBytes }: Pick<Limits, 'unreadBytes'>): StreamBudget {
  const queued = new Map<string, number>();
  let change = Promise.withResolvers<void>();
  const keys = ({ project, id }: Principal): string[] => [`${project.id} ${id}`, String(project.id)];
  return {
    add(principal, bytes) {
      for (const key of keys(principal)) {
        const sum = (queued.get(key) ?? 0) + bytes;
        if (sum === 0) queued.delete(key);
        else queued.set(key, sum);
      }
      if (bytes >= 0) return;
      change.resolve();
      change = Promise.withResolvers();
    },
    hasRoom(principal) {
      const [token = 0, project = 0] = keys(principal).map((key) => queued.get(key) ?? 0);
      return token < unreadBytes.token && project < unreadBytes.project;
    },
    changed: () => change.promise,
  };
}

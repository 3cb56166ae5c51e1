import { StepfastError } from '../../errors.ts';
import type { Query } from './database.ts';
import { statements } from './statements.ts';

/** The most that a project may store. */
export interface Quotas {
  runs: number;
  definitions: number;
  /** Of batches, answers, long texts and workflows. */
  bytes: number;
}

/** What one project stores, as far as this process knows. */
export interface ProjectUsage {
  /** Throws `quota_exceeded`. */
  check(kinds: readonly (keyof Quotas)[]): Promise<void>;
  wrote(amount: Partial<Quotas>): void;
}

interface Usage {
  of(project: number): ProjectUsage;
  /** Adds what was not added yet. */
  close(): Promise<void>;
}

/** Others' writes and removals are known after this time. */
const flushMs = 5000;
const refreshMs = 1000;
const nothing: Quotas = { runs: 0, definitions: 0, bytes: 0 };

/** Counts what is written, and adds it to the counts of the database every few seconds. */
export function createUsage(query: Query, quotas: Quotas | undefined): Usage {
  const projects = new Map<number, ReturnType<typeof usageOf>>();
  return {
    of(project) {
      if (!quotas) return unlimited;
      const usage = projects.get(project) ?? usageOf(project, quotas);
      projects.set(project, usage);
      return usage;
    },
    async close() {
      await Promise.all([...projects.values()].map(({ close }) => close()));
    },
  };

  function usageOf(project: number, most: Quotas): ProjectUsage & { close(): Promise<void> } {
    let known: Quotas | undefined;
    let since = { ...nothing };
    let asked = 0;
    let asking: Promise<void> | undefined;
    let timer: NodeJS.Timeout | undefined;

    async function flush(): Promise<void> {
      const sent = since;
      since = { ...nothing };
      asked = performance.now();
      try {
        const [row] = await query(statements.addUsage, [project, sent.runs, sent.bytes]);
        const [runs, definitions, bytes] = row?.map(Number) ?? [];
        known = { runs: runs ?? 0, definitions: definitions ?? 0, bytes: bytes ?? 0 };
      } catch {
        // Added with what is written next.
        since = sum(since, sent);
      }
    }

    const refresh = (): Promise<void> => {
      asking ??= flush().finally(() => {
        asking = undefined;
      });
      return asking;
    };

    const exceeded = (kinds: readonly (keyof Quotas)[]): keyof Quotas | undefined =>
      known && kinds.find((kind) => sum(known ?? nothing, since)[kind] >= most[kind]);

    return {
      async check(kinds) {
        if (known && exceeded(kinds) === undefined) return;
        // Others may have removed runs.
        if (!known || performance.now() - asked > refreshMs) await refresh();
        const kind = exceeded(kinds);
        if (kind !== undefined) throw quotaExceeded(kind, most[kind]);
      },
      wrote(amount) {
        since = sum(since, { ...nothing, ...amount });
        timer ??= setTimeout(() => {
          timer = undefined;
          void refresh();
        }, flushMs).unref();
      },
      async close() {
        if (timer) await flush();
        clearTimeout(timer);
      },
    };
  }
}

const unlimited: ProjectUsage = { check: async () => undefined, wrote: () => undefined };

const sum = (a: Quotas, b: Quotas): Quotas => ({
  runs: a.runs + b.runs,
  definitions: a.definitions + b.definitions,
  bytes: a.bytes + b.bytes,
});

const names: Record<keyof Quotas, string> = { runs: 'runs', definitions: 'workflows', bytes: 'bytes' };

const quotaExceeded = (kind: keyof Quotas, most: number): StepfastError =>
  new StepfastError(
    'quota_exceeded',
    `This project has reached its quota of ${most} ${names[kind]}, so nothing was done.`,
    { data: { kind, most } },
  );

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  compareGrants,
  findWorkflow,
  grantsOf,
  hashDefinition,
  hashGrants,
  hashJson,
  loadWorkflowFile,
  needsTrust,
  workflowSearchPath,
} from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import type { Grant, GrantChanges } from '../schema/index.ts';
import { withoutConfig } from './config.ts';
import { replaceFile } from './todo-file.ts';

export interface TrustRecord {
  /** Of the definition that the person saw. */
  hash: string;
  workflow: string;
  now: number;
  by: 'person' | 'init';
  /** The main worktree. Records without one are older and trust exactly `hash`, in every repository. */
  root?: string;
  grants?: Grant[];
}

/** What may act on this machine: per user, main worktree, workflow and grants, stored outside every repository. */
export interface Trust {
  /** Hashes the definition itself. */
  has(definition: Definition): boolean;
  give(definition: Definition, given: Pick<TrustRecord, 'now' | 'by'>): TrustRecord;
  take(record: TrustRecord): void;
  list(): TrustRecord[];
  /** Since this workflow was last trusted here; undefined if it never was. */
  changes(definition: Definition): GrantChanges | undefined;
}

/** `more`: hashes of definitions that a person trusts for this process only. */
export function createTrust(stateDirectory: string, root: string, more: readonly string[] = []): Trust {
  const directory = join(stateDirectory, 'trust');
  const fileOf = (key: string): string => join(directory, `${key.replace(/[^a-z0-9]/g, '-')}.json`);
  const recordFor = (definition: Definition) => ({
    hash: hashDefinition(definition),
    workflow: definition.name,
    root,
    grants: grantsOf(definition),
  });
  const list = (): TrustRecord[] =>
    existsSync(directory)
      ? readdirSync(directory)
          .filter((name) => name.endsWith('.json'))
          .flatMap((name) => readRecord(join(directory, name)) ?? [])
      : [];
  return {
    has(definition) {
      if (!needsTrust(definition)) return true;
      const wanted = recordFor(definition);
      return (
        more.includes(wanted.hash) ||
        [keyOf(wanted), wanted.hash].some((key) => readRecord(fileOf(key))) ||
        isBundled(definition)
      );
    },
    give(definition, given) {
      const record = { ...recordFor(definition), ...given };
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      replaceFile(fileOf(keyOf(record)), `${JSON.stringify(record)}\n`);
      return record;
    },
    take(record) {
      rmSync(fileOf(keyOf(record)), { force: true });
    },
    list,
    changes(definition) {
      const { workflow, grants } = recordFor(definition);
      const before = list().filter((record) => record.root === root && record.workflow === workflow);
      const last = before.sort((one, other) => other.now - one.now)[0];
      return last?.grants && compareGrants(last.grants, grants);
    },
  };
}

/** Undefined without a record, and for one that was not written to its end. */
function readRecord(file: string): TrustRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? undefined;
  } catch {
    return undefined;
  }
}

const keyOf = ({ hash, root, workflow, grants }: Omit<TrustRecord, 'now' | 'by'>): string =>
  root === undefined ? hash : `grants-${hashJson([root, workflow, hashGrants(grants ?? [])])}`;

/** Bundled workflows are trusted if unchanged; the project's defaults do not count as a change. */
function isBundled(definition: Definition): boolean {
  const bundled = workflowSearchPath().filter(({ kind }) => kind === 'bundled');
  const found = findWorkflow(definition.name, bundled);
  // A name that is a path would find another file.
  if (found?.from !== 'bundled') return false;
  const own = loadWorkflowFile(found.file, { places: bundled }).definition;
  return (
    own !== undefined && hashDefinition(withoutConfig(own)) === hashDefinition(withoutConfig(definition))
  );
}

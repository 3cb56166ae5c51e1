import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  commandsOf,
  findWorkflow,
  hashDefinition,
  loadWorkflowFile,
  workflowSearchPath,
} from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import { withoutConfig } from './config.ts';

export interface TrustRecord {
  hash: string;
  workflow: string;
  now: number;
  by: 'person' | 'init';
}

/** Which definitions may run commands: per user and hash of the resolved definition, stored outside every repository. */
export interface Trust {
  /** Hashes the definition itself. */
  has(definition: Definition): boolean;
  give(record: TrustRecord): void;
  take(hash: string): boolean;
  list(): TrustRecord[];
}

/** `more`: hashes that a person trusts for this process only. */
export function createTrust(stateDirectory: string, more: readonly string[] = []): Trust {
  const directory = join(stateDirectory, 'trust');
  const fileOf = (hash: string): string => join(directory, `${hash.replace(/[^a-z0-9]/g, '-')}.json`);
  return {
    has(definition) {
      if (commandsOf(definition).length === 0) return true;
      const hash = hashDefinition(definition);
      return more.includes(hash) || existsSync(fileOf(hash)) || isBundled(definition);
    },
    give(record) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(fileOf(record.hash), `${JSON.stringify(record)}\n`);
    },
    take(hash) {
      const known = existsSync(fileOf(hash));
      rmSync(fileOf(hash), { force: true });
      return known;
    },
    list() {
      if (!existsSync(directory)) return [];
      return readdirSync(directory)
        .filter((name) => name.endsWith('.json'))
        .map((name): TrustRecord => JSON.parse(readFileSync(join(directory, name), 'utf8')));
    },
  };
}

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

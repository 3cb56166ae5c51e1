import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findWorkflow, hashDefinition, loadWorkflowFile, places } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import { type Config, withConfig } from './config.ts';
import { commandsOf } from './gates-in.ts';

export interface TrustRecord {
  hash: string;
  workflow: string;
  now: number;
  by: 'person' | 'init';
}

/** Whose commands may run: per user and per hash of the resolved definition, kept outside every repository. */
export interface Trust {
  has(definition: Definition, hash: string): boolean;
  give(record: TrustRecord): void;
  take(hash: string): boolean;
  list(): TrustRecord[];
}

/** `more` stands for a person, for this process only; `config` is what the project adds to every workflow. */
export function createTrust(
  stateDirectory: string,
  { more = [], config = {} }: { more?: readonly string[]; config?: Config } = {},
): Trust {
  const directory = join(stateDirectory, 'trust');
  const fileOf = (hash: string): string => join(directory, `${hash.replace(/[^a-z0-9]/g, '-')}.json`);
  return {
    has: (definition, hash) =>
      commandsOf(definition).length === 0 ||
      more.includes(hash) ||
      existsSync(fileOf(hash)) ||
      isBundled(definition.name, hash, config),
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

/** What comes with Stepfast is trusted as far as it is unchanged. */
function isBundled(name: string, hash: string, config: Config): boolean {
  const bundled = places().filter(({ kind }) => kind === 'bundled');
  const found = findWorkflow(name, bundled);
  // A name that is a path would find a file of somebody else.
  if (found?.from !== 'bundled') return false;
  const { definition } = loadWorkflowFile(found.file, { places: bundled });
  return definition !== undefined && hashDefinition(withConfig(definition, config)) === hash;
}

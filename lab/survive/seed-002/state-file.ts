/** The state file of seed 002: its format, its place, the newest one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface SeedState {
  workflow: string;
  workflow_type: string;
  phase: { current: number; total: number; name: string; status: string };
  required_reading: string[];
  context: Record<string, string>;
  key_reminders: string[];
  created_at: string;
}

export const stateFolder = 'untracked/workflow-state';

export const sanitised = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

export function stateFiles(cwd: string): string[] {
  const folder = join(cwd, stateFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => readdirSync(join(folder, name)).map((file) => join(folder, name, file)))
    .filter((file) => file.endsWith('.json'))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
}

export const readState = (file: string): SeedState => JSON.parse(readFileSync(file, 'utf8'));

export function writeState(file: string, state: SeedState): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}

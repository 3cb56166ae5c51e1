import { StepfastError } from '../errors.ts';

/**
 * The versions of the stored formats, and the migrations from older ones. The envelope of a line (`v` first, `sum` last,
 * over the bytes before it) never changes: otherwise a newer line would look like a damaged one.
 */
export const journalVersion = 1;
export const stateFileVersion = 2;

type Migration = (old: Record<string, unknown>) => Record<string, unknown>;

/** Each migration leads from the version in its key to the next one. */
const lineMigrations: Readonly<Record<number, Migration>> = {};

/** Migrates a line to the current version; undefined if a newer Stepfast wrote it. */
export function migrateLine(
  line: Record<string, unknown>,
  { to = journalVersion, migrations = lineMigrations } = {},
): Record<string, unknown> | undefined {
  const from = Number(line.v);
  if (from > to) return undefined;
  let migrated = line;
  for (let version = from; version < to; version += 1) {
    const migrate = migrations[version];
    if (migrate) migrated = { ...migrate(migrated), v: version + 1 };
  }
  return migrated;
}

export const newerError = (run: string, version: number): StepfastError =>
  new StepfastError(
    'store_newer',
    `run '${run}' was written by a newer Stepfast (format ${version}, supported: ${journalVersion}): update Stepfast`,
    { data: { run, version, known: journalVersion } },
  );

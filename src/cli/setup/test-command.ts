import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestCommand {
  command: string;
  /** The file it was found in. */
  from: string;
}

/** Likely test commands, best first. Reads project files and runs nothing. */
export function findTestCommands(root: string): TestCommand[] {
  const has = (file: string): boolean => existsSync(join(root, file));
  const read = (file: string): string => readOrEmpty(join(root, file));
  const found: (TestCommand | false)[] = [
    packageScript(root, has),
    /^\s*test\b/m.test(keysUnder(read('deno.json'), 'tasks')) && {
      command: 'deno task test',
      from: 'deno.json',
    },
    /^test\s*:(?!=)/m.test(read('Makefile')) && { command: 'make test', from: 'Makefile' },
    /^test\b[^:=\n]*:(?!=)/m.test(read('justfile')) && { command: 'just test', from: 'justfile' },
    python(has, read),
    has('Cargo.toml') && { command: 'cargo test', from: 'Cargo.toml' },
    has('go.mod') && { command: 'go test ./...', from: 'go.mod' },
    has('gradlew') && { command: './gradlew test', from: 'gradlew' },
    has('pom.xml') && { command: 'mvn -q test', from: 'pom.xml' },
    has('mix.exs') && { command: 'mix test', from: 'mix.exs' },
  ];
  return found.filter((each) => each !== false);
}

/** Ignores the placeholder script of `npm init`. */
function packageScript(root: string, has: (file: string) => boolean): TestCommand | false {
  const test: unknown = parsed(readOrEmpty(join(root, 'package.json')))?.scripts?.test;
  if (typeof test !== 'string' || test.trim() === '' || test.includes('no test specified')) return false;
  const managers: [file: string, command: string][] = [
    ['pnpm-lock.yaml', 'pnpm test'],
    ['yarn.lock', 'yarn test'],
    ['bun.lock', 'bun run test'],
    ['bun.lockb', 'bun run test'],
  ];
  const command = managers.find(([file]) => has(file))?.[1] ?? 'npm test';
  return { command, from: 'package.json' };
}

function python(has: (file: string) => boolean, read: (file: string) => string): TestCommand | false {
  const from = ['pytest.ini', 'pyproject.toml', 'tox.ini', 'setup.cfg', 'requirements-dev.txt'].find(
    (file) => (file === 'pytest.ini' ? has(file) : /\bpytest\b/.test(read(file))),
  );
  if (from === undefined) return false;
  if (has('uv.lock')) return { command: 'uv run pytest', from };
  return { command: has('poetry.lock') ? 'poetry run pytest' : 'python -m pytest', from };
}

/** The keys of an object in a JSON text, one per line. */
function keysUnder(text: string, key: string): string {
  const part: unknown = parsed(text)?.[key];
  return typeof part === 'object' && part !== null ? Object.keys(part).join('\n') : '';
}

// A manifest may be any JSON; callers check the values they use.
function parsed(text: string): Record<string, Record<string, unknown> | undefined> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, Record<string, unknown> | undefined>)
      : undefined;
  } catch {
    return undefined;
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

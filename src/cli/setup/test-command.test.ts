import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { findTestCommands } from './test-command.ts';

const script = (test: string): string => JSON.stringify({ scripts: { test } });

test.each<[string, Record<string, string>, string[]]>([
  ['a script of npm', { 'package.json': script('vitest run') }, ['npm test']],
  ['a script with pnpm', { 'package.json': script('vitest'), 'pnpm-lock.yaml': '' }, ['pnpm test']],
  ['a script with yarn', { 'package.json': script('jest'), 'yarn.lock': '' }, ['yarn test']],
  ['a script with bun', { 'package.json': script('bun test'), 'bun.lock': '' }, ['bun run test']],
  ["npm's own placeholder", { 'package.json': script('echo "Error: no test specified" && exit 1') }, []],
  ['a manifest that is broken', { 'package.json': '{ "scripts": ' }, []],
  ['a manifest that is a list', { 'package.json': '[1]' }, []],
  ['a Makefile', { Makefile: 'build:\n\tcc\n\ntest: build\n\t./run\n' }, ['make test']],
  ['a Makefile with a variable of that name', { Makefile: 'test := x\ntests:\n' }, []],
  ['pytest in pyproject', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['python -m pytest']],
  ['pytest with uv', { 'pyproject.toml': 'dev = ["pytest>=8"]', 'uv.lock': '' }, ['uv run pytest']],
  ['pyproject without pytest', { 'pyproject.toml': '[project]\nname = "x"\n' }, []],
  ['Cargo', { 'Cargo.toml': '[package]' }, ['cargo test']],
  ['Go', { 'go.mod': 'module x' }, ['go test ./...']],
  ['deno', { 'deno.json': '{ "tasks": { "test": "deno test" } }' }, ['deno task test']],
  ['several', { 'package.json': script('x'), Makefile: 'test:\n' }, ['npm test', 'make test']],
  ['nothing', {}, []],
])('%s', (_, files, commands) => {
  using project = createTestFolder(files);
  expect(findTestCommands(project.root).map(({ command }) => command)).toEqual(commands);
});

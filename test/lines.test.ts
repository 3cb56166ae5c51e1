import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeOf, countLines } from '../scripts/lines/count.ts';
import { reportOn } from '../scripts/lines/report.ts';

test.each([
  ['a blank line and a line comment', 'a();\n\n  // b();\n', ['a();']],
  ['a comment after code', 'a(); // b();', ['a(); // b();']],
  ['TSDoc over several lines', '/**\n * a\n\n * b */\nc();', ['c();']],
  ['code after a block comment', '/* a */ b();\n/* a */ // b', ['/* a */ b();']],
  ['a glob that looks like a comment', "glob('src/**/*.ts');\na();", ["glob('src/**/*.ts');", 'a();']],
])('%s', (_, text, code) => {
  expect(codeOf(text)).toEqual(code);
});

test('counted is what an entry of the package reaches, by any kind of import, without the test kit', () => {
  const root = mkdtempSync(join(tmpdir(), 'stepfast-lines-'));
  const files: Record<string, string> = {
    'scripts/build.ts': "build({ entryPoints: { hook: 'src/cli/hook/full.ts' } });",
    'src/index.ts': "export {\n  a,\n} from './a/index.ts';\n",
    'src/a/index.ts': "import type { B } from './b.ts';\nexport const a = await import('../c.ts');\n",
    'src/a/b.ts': "export type B = import('./d.ts').D;\n",
    'src/a/d.ts': "import './e.ts';\n",
    'src/a/e.ts': "// import './unused.ts';\n",
    'src/a/unused.ts': 'one();\ntwo();\n',
    'src/a/a.test.ts': "import './unused.ts';\n",
    'src/c.ts': 'c();\n',
    'src/cli/main.ts': 'main();\n',
    'src/cli/hook/full.ts': 'full();\n',
    'src/testing/library.ts': "import '../c.ts';\n",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const counted = countLines(root);
  rmSync(root, { recursive: true });
  expect(Object.fromEntries(counted.reached)).toEqual({
    'src/index.ts': 3,
    'src/a/index.ts': 2,
    'src/a/b.ts': 1,
    'src/a/d.ts': 1,
    'src/a/e.ts': 0,
    'src/c.ts': 1,
    'src/cli/main.ts': 1,
    'src/cli/hook/full.ts': 1,
  });
  expect(Object.fromEntries(counted.support)).toEqual({ 'src/a/unused.ts': 2, 'src/testing/library.ts': 1 });
  const lines = reportOn(counted, 'working tree').split('\n');
  expect(lines.slice(1, 5).map((line) => line.split(/ +/))).toEqual([
    ['.', '2', '4'],
    ['a', '4', '4'],
    ['cli', '2', '2'],
    ['total', '8', '10'],
  ]);
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
    commit: 'working tree',
    files: 8,
    lines: 10,
    support: { files: 2, lines: 3 },
  });
});

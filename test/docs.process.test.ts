import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { compileCondition, loadWorkflowFile, workflowJsonSchema } from '../src/definition/index.ts';
import { plainPlaceholders, taskPlaceholders } from '../src/machine/index.ts';
import { createTestProject } from '../src/testing/index.ts';
import { commandsIn, missingLine } from './kit/console-blocks.ts';
import { schemaKeys } from './kit/schema-keys.ts';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'workflow.md'), 'utf8');
const bundled = join(root, 'workflows');
const scratch = mkdtempSync(join(tmpdir(), 'stepfast-docs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The text under a heading, up to the next one of any level. */
function section(heading: string): string {
  const [, rest] = page.split(new RegExp(`^#{2,3} ${heading}$`, 'm'));
  if (rest === undefined) throw new Error(`no heading '${heading}'`);
  return withoutCode(rest).split(/^#{2,3} /m)[0] ?? '';
}

const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');

interface Row {
  keys: string[];
  text: string;
}

/** Rows of the tables whose first cell is code. */
const rowsOf = (heading: string, head: RegExp): Row[] =>
  section(heading)
    .split(/\n\n+/)
    .filter((block) => head.test(block))
    .flatMap((table) => table.trim().split('\n').slice(2))
    .map((text) => ({
      keys: [...(text.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
      text,
    }));

const keys = schemaKeys(workflowJsonSchema());
const objects = [...new Set(keys.map(({ object }) => object))];

describe.each(objects)('docs/workflow.md on %s', (object) => {
  const rows = rowsOf(object, /^\| key \|/);
  const known = keys.filter((key) => key.object === object);

  test('the table has every key of the schema, and no other', () => {
    expect(rows.flatMap((row) => row.keys).sort()).toEqual(known.map(({ key }) => key).sort());
  });

  test('a row names every word that its key takes, and says that a required key is required', () => {
    for (const { key, words, required } of known) {
      const text = rows.find((row) => row.keys.includes(key))?.text ?? '';
      for (const word of words) expect(text, key).toContain(`\`${word}\``);
      if (required) expect(text, key).toMatch(/\| required/);
    }
    expect(known.length).toBeGreaterThan(0);
  });
});

interface Snippet {
  info: string;
  text: string;
}

const snippets: Snippet[] = [...page.matchAll(/^```yaml ?([^\n]*)\n(.*?)^```$/gms)].map(
  ([, info = '', text = '']) => ({ info, text }),
);

/** A fragment shows some keys of a workflow; the others are filled in. */
function whole({ info, text }: Snippet): string {
  if (info !== 'fragment') return text;
  const steps = /^steps:/m.test(text) ? '' : 'steps:\n  - { id: do, type: action, instructions: Do it. }\n';
  return `name: fragment\ndescription: A fragment\n${text}${steps}`;
}

function load(snippet: Snippet) {
  const directory = mkdtempSync(join(scratch, 'snippet-'));
  const file = join(directory, 'workflow.yaml');
  writeFileSync(file, whole(snippet));
  return loadWorkflowFile(file, { places: [{ kind: 'bundled', directory: bundled }] });
}

const workflows = snippets.filter(({ info }) => !/^(?:result of|mistakes)/.test(info));

test.each(workflows.map((snippet, index) => [index + 1, snippet] as const))(
  'YAML snippet %i of docs/workflow.md loads without errors and warnings, and completes',
  async (_, snippet) => {
    expect(load(snippet).diagnostics).toEqual([]);
    using project = createTestProject({ 'example.yaml': whole(snippet) });
    const { code, stdout } = await project.run(['dry-run', './example.yaml', '--json']);
    expect([code, JSON.parse(stdout).status]).toEqual([0, 'complete']);
  },
);

test('the commands of docs/workflow.md print what the page shows, for the files that it names', async () => {
  const files = workflows.filter(({ info }) => info.endsWith('.yaml'));
  using project = createTestProject(Object.fromEntries(files.map(({ info, text }) => [info, text])));
  const commands = commandsIn(page);
  expect(commands.length).toBeGreaterThan(5);
  for (const shown of commands) {
    const [program, ...argv] = [...shown.command.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    expect(program).toBe('stepfast');
    const { code, stdout, stderr } = await project.run(argv, { terminal: true, input: ['y'] });
    expect([code, missingLine(shown, stdout)], `$ ${shown.command}\n${stdout}${stderr}`).toEqual([
      0,
      undefined,
    ]);
  }
});

test('the worked example of extends gives what the page says', () => {
  const shown = snippets.find(({ info }) => info === 'result of .stepfast/workflows/go.yaml');
  const written = snippets.find(({ info }) => info === '.stepfast/workflows/go.yaml');
  if (!shown || !written) throw new Error('the example is gone');
  expect(load(written).definition).toMatchObject(parse(shown.text));
});

test('the mistakes of the page are told in the words of the page', () => {
  const mistakes = snippets.find(({ info }) => info === 'mistakes');
  const said = /^```text\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
  const { diagnostics } = mistakes ? load(mistakes) : { diagnostics: [] };
  expect(diagnostics.map(({ line, column, message }) => `error ${line}:${column}  ${message}`)).toEqual(
    said.match(/error .+/g),
  );
  expect(diagnostics.map(({ suggestion }) => `help: ${suggestion}`)).toEqual(said.match(/help: .+/g));
});

test('the page lists every bundled workflow, and no other', () => {
  const files = readdirSync(bundled).map((name) => basename(name, '.yaml'));
  expect(
    rowsOf('Where files are found', /^\| bundled \|/)
      .flatMap((row) => row.keys.slice(0, 1))
      .sort(),
  ).toEqual(files.sort());
});

test('the page lists every placeholder, and no other', () => {
  const listed = rowsOf('Placeholders', /^\| placeholder \|/).flatMap((row) => row.keys);
  const known = [
    ...plainPlaceholders,
    ...taskPlaceholders.map((part) => `task.${part}`),
    'input.NAME',
    'outputs.STEP',
    'tasks.LOOP',
  ];
  expect(listed.sort()).toEqual(known.map((name) => `{${name}}`).sort());
});

test('the conditions of the page compile, and `matches` is refused', () => {
  const conditions = rowsOf('Conditions', /^\| condition \|/).flatMap((row) => row.keys.slice(0, 1));
  expect(conditions.length).toBeGreaterThan(3);
  expect(conditions.filter((condition) => !compileCondition(condition).ok)).toEqual([]);
  expect(compileCondition('outputs.plan.matches("a+")').ok).toBe(false);
});

test('the roots, functions and methods that the page names are those that a condition may use', () => {
  const named = (what: string): string[] => {
    const line = section('Conditions')
      .split('\n')
      .find((each) => each.startsWith(`| ${what} |`));
    return [...(line ?? '').matchAll(/`([a-zA-Z_]+)`/g)].map((match) => match[1] ?? '');
  };
  const compiles = (condition: string): boolean => compileCondition(condition).ok;
  expect(named('roots').filter((name) => !compiles(`${name} != null`))).toEqual([]);
  const argument: Record<string, string> = { size: '', trim: '', lowerAscii: '', upperAscii: '' };
  for (const name of ['all', 'exists', 'exists_one', 'filter', 'map']) argument[name] = 'each, each == 1';
  const calls = [
    ...named('functions').map((name) => `${name}(state.x) == state.y`),
    ...named('methods').map((name) => `state.x.${name}(${argument[name] ?? '"a"'}) == state.y`),
  ];
  expect(calls.length).toBeGreaterThan(15);
  expect(calls.filter((call) => !compiles(call))).toEqual([]);
});

test('links inside the page lead to a heading', () => {
  const headings = [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '').toLowerCase().replaceAll(' ', '-'),
  );
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1] ?? '');
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !headings.includes(link))).toEqual([]);
});

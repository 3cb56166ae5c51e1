import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { registrations } from '../src/hosts/template/capabilities.ts';
import { marksFor } from '../src/workspace/marks/run-marks.ts';

const root = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const page = read('docs/adding-a-host.md');
const codeIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

test('every file that the page names exists, but for those of the new host', () => {
  const named = [...page.matchAll(/(?:src|hooks|test|scripts)\/[\w./-]*\w/g)].map(([path]) => path);
  const known = [...new Set(named)].filter((path) => !path.includes('quill'));
  expect(known.length).toBeGreaterThan(30);
  expect(known.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the page explains every member of a host', () => {
  const [, body = ''] = /^export interface Host \{\n(.*?)^\}/ms.exec(read('src/runtime/host.ts')) ?? [];
  const members = [...body.matchAll(/^ {2}(\w+)\??[:(]/gm)].map(([, name = '']) => name);
  expect(members.length).toBeGreaterThan(15);
  const named = new Set(codeIn(page));
  expect(members.filter((name) => !named.has(name))).toEqual([]);
});

test('the page lists every mark, and the template uses no other', () => {
  const [, section = ''] = page.split(/^\| mark \|.*$/m);
  const [table = ''] = section.split('\n\n');
  const listed = table.split('\n').flatMap((row) => codeIn(row.split('|')[1] ?? ''));
  const needsAll = marksFor({
    name: 'w',
    description: 'Needs every event',
    required_reading: ['@a.md'],
    agents: { reviewer: { description: 'Looks', cannot: ['Edit'] } },
    steps: [{ id: 'work', type: 'action' }],
    stop: 'check',
  });
  expect(listed.toSorted()).toEqual([...needsAll, 'before_tool-stepfast', 'after_tool-shell'].toSorted());
  expect(registrations.map(({ mark }) => mark).filter((mark) => !listed.includes(mark))).toEqual([]);
});

test('the commands of the page copy the template, and nothing of its name is left', () => {
  const commands = /^```sh\n(name=quill.*?)^```$/ms.exec(page)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-template-'));
  try {
    for (const part of ['src/hosts/template', 'test/kit/dialects'])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    execFileSync('sh', ['-e', '-c', commands], { cwd: folder });
    const host = join(folder, 'src', 'hosts', 'quill');
    const copied = readdirSync(host);
    expect(copied.toSorted()).toEqual(
      readdirSync(join(root, 'src', 'hosts', 'template'))
        .map((name) => name.replace('template', 'quill'))
        .toSorted(),
    );
    const files = [
      ...copied.map((name) => join(host, name)),
      join(folder, 'test', 'kit', 'dialects', 'quill.ts'),
    ];
    expect(files.filter((file) => /template/i.test(readFileSync(file, 'utf8')))).toEqual([]);
    expect(readFileSync(join(host, 'variables.ts'), 'utf8')).toContain('QUILL_AGENT');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

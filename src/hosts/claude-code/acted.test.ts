import { expect, test } from 'vitest';
import { onlyReads } from '../shell-reads.ts';
import { acted } from './acted.ts';

const line = (record: object): string => JSON.stringify(record);
const user = (promptId: string) => line({ type: 'user', promptId, message: { content: 'x' } });
const tool = (name: string, input: object = {}) =>
  line({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 't', name, input }] } });
const says = (text: string) => line({ type: 'assistant', message: { content: [{ type: 'text', text }] } });
const turn = (...lines: string[]) => acted([user('p1'), ...lines].join('\n'), 'p1', 'Done.');

test('a turn acts with the first tool that is no plain read', () => {
  expect(turn(tool('Read'), tool('Grep'), says('Done.'))).toBe(false);
  expect(turn(tool('Bash', { command: 'cat a | head -3' }), says('Done.'))).toBe(false);
  expect(turn(tool('mcp__plugin_stepfast_stepfast__workflow_status'), says('Done.'))).toBe(false);
  for (const each of [
    tool('Edit'),
    tool('Bash', { command: 'npm i' }),
    tool('Agent'),
    tool('mcp__db__write'),
  ])
    expect(turn(each, says('Done.'))).toBe(true);
});

test('what the turn before did does not count', () => {
  const before = [user('p0'), tool('Edit'), says('Edited.')];
  expect(acted([...before, user('p1'), says('Done.')].join('\n'), 'p1', 'Done.')).toBe(false);
});

test('without its last message a turn is not on file yet', () => {
  expect(turn(tool('Read'))).toBeUndefined();
  expect(acted('', 'p1', 'Done.')).toBeUndefined();
  expect(acted([user('p1'), tool('Read')].join('\n'), 'p1', undefined)).toBe(false);
});

test.each([
  ['ls -la && git status', true],
  ['cat a.txt 2>/dev/null | grep x', true],
  ['sed -n 1,20p a.ts', true],
  ['cd src; rg foo', true],
  ['echo hi > a.txt', false],
  ['cat a > b', false],
  ['npm test', false],
  ['git commit -am x', false],
  ['sed -i s/a/b/ f', false],
  ['ls $(rm -rf x)', false],
  ['cat a; rm a', false],
  ['git diff --output=x', false],
])('%s only reads: %s', (command, reads) => {
  expect(onlyReads(command)).toBe(reads);
});

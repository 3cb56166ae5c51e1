import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { registrations } from './capabilities.ts';
import { pluginHooks, template } from './index.ts';
import { acted, arrival, spending } from './transcript.ts';

/** As the program sends them: paste recorded payloads here, and shorten them afterwards. */
const common = { program: 'template', conversation: 'c-1', folder: '/p', log: '/h/c-1.jsonl', turn: 't-1' };
const parse = (event: string, more: object = {}) => template.parse(event, { ...common, ...more }, {});

test('a prompt, a stop and their texts', () => {
  expect(parse('prompt.sent', { text: 'go' })).toEqual({
    host: 'template',
    kind: 'prompt',
    session: 'c-1',
    cwd: '/p',
    transcript: '/h/c-1.jsonl',
    id: 't-1',
    prompt: 'go',
  });
  expect(parse('turn.ending', { text: 'Done.', again: true })).toMatchObject({
    kind: 'stop',
    lastMessage: 'Done.',
    stopActive: true,
  });
  expect(parse('session.opened', { how: 'resumed' })).toMatchObject({ source: 'resume' });
  expect(parse('session.closed', { how: 'cleared' })).toMatchObject({ cleared: true });
});

test('what is not whole is ignored', () => {
  expect(parse('constructor')).toBeUndefined();
  expect(parse('prompt.sent', { program: 'other' })).toBeUndefined();
  expect(parse('prompt.sent', { conversation: '' })).toBeUndefined();
  expect(parse('prompt.sent', { conversation: 'c'.repeat(201) })).toBeUndefined();
  expect(parse('prompt.sent', { folder: 7 })).toBeUndefined();
  expect(parse('agent.started')).toBeUndefined();
});

test("tools: what a shell showed, whether a file was read as a whole, the answer of Stepfast's own", () => {
  const used = (tool: string, input: object, output = '') =>
    parse('tool.finished', { call: 'x-1', tool, input, output })?.tool;
  expect(used('shell', { command: 'echo hi' }, 'hi')).toEqual({
    name: 'shell',
    kind: 'shell',
    command: 'echo hi',
    shown: 'hi',
  });
  expect(used('read_file', { path: 'a' })).toEqual({
    name: 'read_file',
    kind: 'read',
    path: 'a',
    whole: true,
  });
  expect(used('read_file', { path: 'a', lines: '2-9' })).toMatchObject({ whole: false });
  expect(used('stepfast.workflow_start', { at: 'x' }, '{"run":"w-1","at":"k3:plan#1"}')).toEqual({
    name: 'stepfast.workflow_start',
    kind: 'stepfast',
    call: 'workflow_start',
    at: 'x',
    answer: { run: 'w-1', at: 'k3:plan#1', refused: false },
  });
});

test('nothing but one JSON object is printed, or nothing', () => {
  const input = parse('turn.ending') ?? expect.unreachable();
  expect(template.render(input, {})).toEqual({ stdout: '', exitCode: 0 });
  const { stdout } = template.render(input, { block: 'Go on.', say: 'S', context: 'c'.repeat(10_000) });
  const { inject, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({ go_on: 'Go on.', show: 'S' });
  expect(inject).toHaveLength(9_000);
});

const log = (...records: object[]): string => records.map((each) => `${JSON.stringify(each)}\n`).join('');

test('injected text is found whole, cut or not at all, and only after the last compaction', () => {
  const given = { id: 'b-1', text: 'Briefing b-1 of run\n' };
  const whole = { type: 'injected', text: 'Briefing b-1 of run' };
  expect(arrival(log({ type: 'compacted' }, whole), given)).toBe('whole');
  expect(arrival(log({ ...whole, text: 'Briefing b-1 o' }), given)).toBe('cut');
  expect(arrival(`half of a line"}\n${log(whole, { type: 'compacted' })}`, given)).toBe('missing');
});

test('a turn that only reads has not acted, and one that is not written yet is unknown', () => {
  const prompt = { type: 'prompt', turn: 't-1' };
  const tool = (name: string, input = {}) => ({ type: 'tool', turn: 't-1', tool: name, input });
  expect(acted(log(tool('write_file')), 't-1')).toBeUndefined();
  expect(acted(log(prompt, tool('read_file'), tool('shell', { command: 'ls' })), 't-1')).toBe(false);
  expect(acted(log(prompt, tool('shell', { command: 'rm a' })), 't-1')).toBe(true);
  expect(acted(log({ ...prompt, turn: 't-0' }, prompt, { ...tool('write_file'), turn: 't-0' }), 't-1')).toBe(
    false,
  );
});

test('spending counts from a time, without long pauses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-template-'));
  const file = join(folder, 'c-1.jsonl');
  const at = (minute: number) => new Date(minute * 60_000).toISOString();
  writeFileSync(
    file,
    log(
      { type: 'prompt', time: at(1) },
      { type: 'prompt', time: at(10) },
      { type: 'usage', time: at(12), tokens_in: 100, tokens_out: 20 },
      { type: 'prompt', time: at(60) },
    ),
  );
  expect(await spending(file, 9 * 60_000)).toEqual({ turns: 2, tokens: 120, activeMs: 3 * 60_000 });
  expect(await spending(join(folder, 'none'), 0)).toEqual({ turns: 0, tokens: 0, activeMs: 0 });
  rmSync(folder, { recursive: true });
});

test('the file of hooks: one entry for each registration, times in the unit of the host', () => {
  const { hooks } = pluginHooks('/plugin') as {
    hooks: Record<string, { hooks: { timeout_ms: number; command: string }[] }[]>;
  };
  const all = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  expect(all).toHaveLength(registrations.length);
  expect(all.every(({ timeout_ms }) => timeout_ms >= 5_000)).toBe(true);
  expect(all.map(({ command }) => command)).toContain(
    'sh "/plugin/hooks/stepfast-hook.sh" stop template turn.ending || :',
  );
});

import { expect, it } from 'vitest';
import { type McpCaller, newSessionId, sessionOf } from './http-session.ts';

const bot: McpCaller = {
  id: 'a1b2c3',
  project: { id: 1, name: 'shop' },
  kind: 'agent',
  name: 'CI bot!',
  scopes: ['read', 'write'],
};
const named = (headers: Record<string, string>, meta: Record<string, unknown> = {}, caller = bot): string =>
  sessionOf(caller, new Headers(headers), meta).name;

it('callers of one token are one where nothing tells them apart, on every server', () => {
  expect(named({})).toBe(named({}));
  expect(named({})).toMatch(/^ci-bot-[\w-]{16}$/);
  // What is before a slash would be the session that started this one.
  expect(named({ 'stepfast-session': 'a/b' })).not.toContain('/');
});

it('a conversation that the client names is told apart by whatever names it first', () => {
  const own = named({ 'stepfast-session': 'x', 'mcp-session-id': 'y' }, { 'openai/session': 'z' });
  expect(own).toBe(named({ 'stepfast-session': 'x' }));
  const meta = named({ 'mcp-session-id': 'y' }, { 'stepfast/session': 'x', 'openai/session': 'z' });
  expect(meta).toBe(named({}, { 'stepfast/session': 'x' }));
  const names = [
    named({}),
    own,
    meta,
    named({}, { 'openai/session': 'x' }),
    named({ 'mcp-session-id': 'x' }),
    named({ 'mcp-session-id': 'y' }),
  ];
  expect(new Set(names).size).toBe(names.length);
});

it('S4: the same conversation of another principal or in another project is another session', () => {
  const headers = { 'stepfast-session': 'x' };
  const issued = { issuer: 'https://login.example.com', subject: bot.name };
  const others: McpCaller[] = [
    bot,
    { ...bot, name: 'other' },
    { ...bot, issued },
    { ...bot, project: { id: 2, name: 'shop' } },
  ];
  expect(new Set(others.map((caller) => named(headers, {}, caller))).size).toBe(others.length);
});

it('a rotated token keeps its session', () => {
  expect(named({}, {}, { ...bot, id: 'rotated' })).toBe(named({}));
});

it('what cannot name a conversation names none', () => {
  for (const value of ['', 'x'.repeat(257), 7, null, {}, ['x']])
    expect(named({}, { 'stepfast/session': value })).toBe(named({}));
  expect(named({ 'mcp-session-id': 'x'.repeat(5000) })).toBe(named({}));
});

it('the id that a handshake is given tells the client again', () => {
  const id = newSessionId('Claude Code');
  expect(id).not.toBe(newSessionId('Claude Code'));
  expect(sessionOf(bot, new Headers({ 'mcp-session-id': id }), {}).host).toBe('claude-code');
  expect(sessionOf(bot, new Headers({ 'mcp-session-id': 'made-up' }), {})).not.toHaveProperty('host');
  // Whatever a client calls itself, its id is one that a header may hold.
  for (const client of ['', 'Ünï\ncode', 'x'.repeat(500), 7, undefined])
    expect(newSessionId(client)).toMatch(/^[a-z0-9-]{1,32}\.[\w-]{22}$/);
});

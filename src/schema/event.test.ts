import { expect, test } from 'vitest';
import { parseHandle } from '../machine/index.ts';
import { type Event, eventProblem } from './event.ts';

const started = (inputs: string): Event =>
  JSON.parse(
    `{"type":"run.started","now":1,"run":"r-1","workflow":"w","boundaries":"off","inputs":${inputs}}`,
  );

test('every key of a record is checked, also one named __proto__', () => {
  expect(eventProblem(started('{"a":1,"constructor":"x","__proto__":true}'))).toBeUndefined();
  expect(eventProblem(started('{"__proto__":{"a":1}}'))).toMatch(/^run\.started\.inputs\.__proto__ /);
  expect(eventProblem(started('[]'))).toMatch(/^run\.started\.inputs /);
  expect(eventProblem(started(`{"${'k'.repeat(1001)}":1}`))).toMatch(/^run\.started\.inputs\.k{40} /);
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`i${at}`, 1]));
  expect(eventProblem(started(JSON.stringify(many)))).toMatch(/^run\.started\.inputs /);
});

test('a handle in an event is one that the machine can parse', () => {
  for (const at of [
    'abcd:plan#1',
    'abcd:build/t1/verify#999999999',
    'abcd:plan#0',
    'abcd:plan',
    'a b:c#1',
    '',
  ])
    expect(eventProblem({ type: 'stop.held', now: 1, session: 's', at }) === undefined).toBe(
      parseHandle(at) !== undefined,
    );
});

test('a list, a text and a number are bounded, and a problem is never silent', () => {
  const tasks = Array.from({ length: 10_001 }, () => ({ id: 'a', title: 'A' }));
  expect(eventProblem({ type: 'tasks.set', now: 1, loop: 'l', tasks })).toMatch(/^tasks\.set\.tasks /);
  expect(eventProblem({ type: 'tasks.set', now: 1, loop: 'l', tasks: tasks.slice(1) })).toBeUndefined();
  const answer = 'x'.repeat(300_001);
  expect(eventProblem({ type: 'question.answered', now: 1, id: 'q', answer })).toMatch(/\.answer /);
  expect(eventProblem({ type: 'lease.renewed', now: 1, at: 'a:b#1', expires: 1e300 })).toMatch(/\.expires /);
});

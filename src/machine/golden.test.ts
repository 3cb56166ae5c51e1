import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dice, memory, randomCommand } from '../../test/properties/commands.ts';
import { workflow } from '../../test/properties/workflows.ts';
import { type Definition, type Event, type Response, respond, type State } from './index.ts';

const runs = 160;
const length = 40;

/** The same workflows and commands every time; `npm test -- -u` writes the files anew after a change that is meant. */
function play(definition: Definition, seed: number): Response[] {
  const dice = new Dice(seed);
  const remembered = memory();
  const facts = { witness: 'hooks' as const };
  const start = { type: 'start' as const, now: remembered.now, run: 'golden-1-abcd', session: 'A', facts };
  const responses = [respond(definition, null, start)];
  for (let played = 0; played < length; played += 1) {
    const state: State | null = responses.at(-1)?.state ?? null;
    if (state) responses.push(respond(definition, state, randomCommand(definition, state, dice, remembered)));
  }
  return responses;
}

const playAll = (): Response[][] =>
  fc.sample(workflow, { numRuns: runs, seed: 20261115 }).map((definition, seed) => play(definition, seed));

test('the same commands give the same events, answers and effects as ever', async () => {
  const lines = playAll().map((responses, seed) => {
    const events: Event[] = responses.flatMap((response) => response.events);
    const answers = responses.map(({ reply, effects }) => ({ reply, effects }));
    return `${seed} ${events.length} ${digest(events)} ${digest(answers)}`;
  });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('fixtures/v1/runs.txt');
});

test('every sentence that an agent or a person is told', async () => {
  const sentences = new Map<string, string>();
  const keep = (kind: string, ...texts: (string | undefined)[]): void => {
    const text = texts.filter((part) => part !== undefined).join(' | ');
    const shape = text.replaceAll(/abcd:[^\s,:|;]+|\b[st]\d\b|\d+/g, '*');
    if (!sentences.has(shape)) sentences.set(shape, `${kind}: ${text}`);
  };
  for (const { reply } of playAll().flat()) {
    if ('code' in reply) keep(reply.code, reply.message, reply.next);
    else {
      keep('next', reply.next);
      if (reply.message !== undefined) keep('message', reply.message);
      if (reply.waiting) keep('waiting', reply.waiting.for, reply.waiting.by, reply.waiting.what);
    }
  }
  await expect(`${[...sentences.values()].sort().join('\n')}\n`).toMatchFileSnapshot(
    'fixtures/v1/sentences.txt',
  );
});

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

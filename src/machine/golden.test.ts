import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memory, randomCommand } from '../../test/properties/commands.ts';
import { Dice } from '../../test/properties/dice.ts';
import type { Definition, Event } from '../schema/index.ts';
import { type Response, respond } from './respond.ts';
import type { State } from './state.ts';

const length = 40;
const workflows: Definition[] = JSON.parse(
  readFileSync(new URL('fixtures/v1/workflows.json', import.meta.url), 'utf8'),
);

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

test('the same commands give the same events and answers as before', async () => {
  const played = workflows.map((definition, seed) => play(definition, seed));
  await expect(journals(played)).toMatchFileSnapshot('fixtures/v1/runs.txt');
});

function journals(played: Response[][]): string {
  const lines = played.map((responses, seed) => {
    const events: Event[] = responses.flatMap((response) => response.events);
    const answers = responses.map(({ reply, effects }) => ({ reply, effects }));
    return `${seed} ${events.length} ${digest(events)} ${digest(answers)}`;
  });
  return `${lines.join('\n')}\n`;
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

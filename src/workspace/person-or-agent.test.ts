import { expect, test } from 'vitest';
import { notAPerson } from './person-or-agent.ts';

const agentVariables = ['SOME_AGENT', 'OTHER_AGENT'];

test("a terminal without an agent's variables may be a person's", () => {
  const env = { HOME: '/home/a', SOME_AGENT_HOME: '/x', OTHER_AGENT: '' };
  expect(notAPerson({ terminal: true, env, agentVariables })).toBeUndefined();
});

test('a pipe is not a person', () => {
  expect(notAPerson({ terminal: false, env: {}, agentVariables })).toContain('terminal');
});

test.each(agentVariables)('%s shows that an agent calls', (name) => {
  expect(notAPerson({ terminal: true, env: { [name]: '1' }, agentVariables })).toContain(name);
});

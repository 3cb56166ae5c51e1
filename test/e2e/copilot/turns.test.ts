/** Tools, the end of a turn and budgets in the real Copilot CLI. */
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { lastUser, mainTurn, reply } from '../../../src/testing/index.ts';
import { type CopilotLab, call, createCopilotLab } from '../../kit/copilot.ts';

/** Passes once `total.txt` has 42 in it. */
const gate = 'gate: [{ run: "grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }" }]';
const checked = (more: string): string =>
  `name: w\ndescription: Does it\nstop: check\nsteps:\n  - { id: do, type: action, instructions: INSTRUCTIONS-DO, ${more} }\n`;

let lab: CopilotLab;
afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

const begin = async (workflow: string): Promise<void> => {
  lab = await createCopilotLab({ '.stepfast/workflows/w.yaml': workflow, 'total.txt': '41\n' });
};
const write = (content: string) => call.bash(`echo ${content} > total.txt`);
const stateOf = async () => await (await lab.project.onlyRun()).state();
const verdicts = async (): Promise<boolean[]> =>
  (await (await lab.project.onlyRun()).events('gates.finished')).map(({ pass }) => pass);

it('[P4/8] an agent cannot use the tools of its list, whichever host named them, and our own need no permission', async () => {
  await begin(`name: w
description: Looks
agents:
  looker: { description: Looks, cannot: [Write, bash] }
steps:
  - { id: look, type: action, agent: looker, instructions: LOOK }
`);
  const made = join(lab.project.root, 'made.txt');
  lab.model.on(
    lastUser(/begin/),
    call.start('w'),
    call.create(made, 'x'),
    call.bash('touch other.txt'),
    call.view(join(lab.project.root, 'total.txt')),
    call.advance('Looked.'),
    reply.text('Done.'),
  );
  await lab.prompt('begin', { permissions: ['--allow-tool', 'write', '--allow-tool', 'shell'] });
  expect(lab.project.git('status', '--short')).not.toMatch(/made|other/);
  expect(lab.logged().filter((line) => line === 'denied')).toHaveLength(2);
  expect((await stateOf()).status).toBe('complete');
});

it('a question, and a turn that only reads, are not checked', async () => {
  await begin(checked(gate));
  lab.model.on(lastUser(/stepfast start/), call.bash('cat total.txt'), reply.text('It has 41.'));
  lab.model.on(lastUser(/and then/), write('42'), reply.text('Shall I go on?'));
  await lab.prompt('/stepfast start w make it 42');
  expect(await verdicts()).toEqual([]);
  await lab.prompt('and then', { resume: true });
  expect(await verdicts()).toEqual([true]);
  expect((await stateOf()).status).toBe('running');
});

it('a subagent is handed the position and has its limits', async () => {
  await begin(`name: w
description: Looks
agents:
  looker: { description: Looks, cannot: [bash] }
steps:
  - { id: look, type: action, agent: looker, instructions: LOOK }
`);
  const isSub = /SUBTASK/;
  lab.model.always(mainTurn(), (request) => {
    const text = JSON.stringify(request.body.messages);
    const results = text.split('"tool_result"').length - 1;
    if (!text.includes('begin')) return results === 0 ? call.bash('touch sub.txt') : reply.text('Could not.');
    if (results === 0) return call.start('w');
    if (results === 1)
      return reply.tool('task', {
        description: 'Sub',
        prompt: 'SUBTASK: touch a file',
        agent_type: 'task',
        name: 'sub',
        mode: 'sync',
      });
    return reply.text('Done.');
  });
  await lab.prompt('begin');
  expect(lab.contexts().some((context) => isSub.test(context))).toBe(true);
  expect(lab.project.git('status', '--short')).not.toContain('sub.txt');
  expect(lab.logged().filter((line) => line === 'denied')).toHaveLength(1);
});

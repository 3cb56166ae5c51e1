/** What a workflow says about the tools of its agents, enforced in the real Claude Code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { hookLogEntries } from '../../../src/hooks/index.ts';
import { claudeCode } from '../../../src/hosts/claude-code/index.ts';
import { currentToolName } from '../../../src/runtime/index.ts';
import {
  type ClaudeProject,
  type ClaudeRun,
  contextOf,
  lastUser,
  type ModelRequest,
  type Reply,
  reply,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import { createStage } from './stage.ts';

const workflow = `name: w
description: Looks, then writes
agents:
  looker: { description: Looks at it, tools: [Read] }
  writer: { description: Writes it, cannot: [Bash] }
steps:
  - { id: look, type: action, agent: looker, instructions: INSTRUCTIONS-LOOK }
  - { id: write, type: action, agent: writer, instructions: INSTRUCTIONS-WRITE }
`;

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const path = (name: string): string => join(stage.project.root, name);
const readme = (): string => readFileSync(path('README.md'), 'utf8');
const read = (): Reply => reply.tool('Read', { file_path: path('README.md') });
const edit = (to: string): Reply =>
  reply.tool('Edit', { file_path: path('README.md'), old_string: 'A project', new_string: to });
const denied = (): string[] =>
  hookLogEntries({ directory: path('.stepfast') }).flatMap((entry) =>
    entry.what === 'denied' ? [entry.tool] : [],
  );
const begin = async (): Promise<string> => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': workflow, 'README.md': 'A project\n' });
  return (await stage.project.startRun('w')).at;
};

it('A14: with tools: [Read], Bash and Edit are refused with what is allowed, and the run goes on', async () => {
  const at = await begin();
  stage.model.on(
    lastUser(/go on/),
    toolCall.status(at),
    read(),
    toolCall.bash('echo FORBIDDEN > README.md'),
    edit('FORBIDDEN'),
    toolCall.advance('Looked.', at),
    toolCall.bash('echo FORBIDDEN > README.md'),
    edit('ALLOWED'),
    reply.text('Done.'),
  );
  const [, seen, bash, edited, , later, written] = toolResults(await stage.run({ prompts: ['go on'] }));
  expect(seen).toContain('A project');
  for (const refused of [bash, edited]) expect(refused).toMatch(/looker.*Read/);
  expect(later).toMatch(/writer.*Bash/);
  expect(written).toContain('has been updated');
  expect(readme()).toBe('ALLOWED\n');
  expect(denied()).toEqual(['Bash', 'Edit', 'Bash']);
});

it('A14: a subagent has the limits of the position, handed over or not', async () => {
  const at = await begin();
  stage.model.on(
    lastUser(/go on/),
    toolCall.status(at),
    toolCall.agent('Change the README for me.'),
    toolCall.agent('Do AT and change the README.', { at }),
    reply.text('Done.'),
  );
  const inside =
    (text: RegExp) =>
    (request: ModelRequest): boolean =>
      request.kind === 'subagent' && text.test(contextOf(request));
  stage.model.on(inside(/change the README/), read(), edit('FORBIDDEN'), reply.text('I may not.'));
  const ran = await stage.run({ prompts: ['go on'] });
  const [, alone] = toolResults(ran);
  expect(alone).toMatch(/looker.*Agent/);
  expect(subagentTexts(ran)).toMatch(/looker.*Read/);
  expect(readme()).toBe('A project\n');
  expect(denied()).toEqual(['Agent', 'Edit']);
});

const subagentTexts = ({ requests }: ClaudeRun): string =>
  requests
    .requestsOf('subagent')
    .map((request) => contextOf(request))
    .join('\n');

it('A14: a session that does not work on the run is not limited', async () => {
  await begin();
  stage.model.on(
    lastUser(/change/),
    read(),
    edit('ALLOWED'),
    toolCall.bash('cat README.md'),
    reply.text('Done.'),
  );
  const [, edited, shown] = toolResults(await stage.run({ prompts: ['change it'] }));
  expect(edited).toContain('has been updated');
  expect(shown).toContain('ALLOWED');
  expect(denied()).toEqual([]);
});

it('A14: every tool of Claude Code that the model is offered has a known name', async () => {
  await begin();
  stage.model.always(lastUser(/./), reply.text('Hello.'));
  const { events } = await stage.run({ prompts: ['hello'] });
  const offered = events.flatMap(({ tools = [] }) => tools).filter((name) => !name.startsWith('mcp__'));
  const { tools } = claudeCode;
  expect(offered).toContain('Bash');
  expect(offered.filter((name) => !tools || currentToolName(tools, name) === undefined)).toEqual([]);
});

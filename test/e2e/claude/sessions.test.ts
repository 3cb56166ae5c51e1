/** Which session works on which run, in the real Claude Code: `protocols.md` 4, row by row. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  type ClaudeProject,
  contextOf,
  lastContext,
  lastUser,
  type Reply,
  reply,
  runtimeIn,
  subagent,
  toolCall,
  toolResults,
} from '../../../src/testing/index.ts';
import { createStage } from './stage.ts';

const workflow = (name: string, more = '') => `name: ${name}
description: Plans and builds
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-${name.toUpperCase()}-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-${name.toUpperCase()}-BUILD }
${more}`;
const files = { '.stepfast/workflows/w.yaml': workflow('w'), '.stepfast/workflows/v.yaml': workflow('v') };

const parallel = `name: p
description: Two at once
stop: hold
steps:
  - { id: work, type: loop, parallel: 2, instructions: Set the tasks. }
loops:
  work:
    - { id: do, read_only: true, instructions: INSTRUCTIONS-DO }
`;

const cli = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli.js');
let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

it('[P4/2] [P4/3] [P4/7] [pain 13] [pain 14] two sessions and two runs in one repository do not bleed into each other', async () => {
  stage = await createStage(files);
  const { model } = stage;
  const w = await stage.project.startRun('w');
  model.on(lastUser(/MARK-W go/), toolCall.status(w.at), toolCall.note('W-NOTE'), reply.text('On it.'));
  const first = await stage.open();
  const { session } = await first.send('MARK-W go');

  // One run, and another session works on it: two lines, and no binding.
  model.on(lastUser(/MARK-LOOK/), reply.text('I see.'));
  const look = await stage.run({ prompts: ['MARK-LOOK'] });
  expect(lastContext(look)).toMatch(new RegExp(`hook additional context: .*\\n?.*${session}`));
  expect(lastContext(look)).not.toContain('INSTRUCTIONS-W');

  // Two runs: a list, no guess; the first call with a handle binds.
  const v = await stage.project.startRun('v');
  model.on(
    lastUser(/MARK-V go/),
    toolCall.status(v.at),
    toolCall.advance('V-DONE', v.at),
    reply.text('On it.'),
  );
  model.on(lastUser(/MARK-V again/), reply.text('Going on.'));
  model.on(lastUser(/MARK-W again/), toolCall.advance('W-DONE', w.at), reply.text('Going on.'));
  const second = await stage.open();
  const other = await second.send('MARK-V go');
  await first.send('MARK-W again');
  await second.send('/clear');
  const fresh = await second.send('MARK-V again');
  await Promise.all([first.close(), second.close()]);

  const begun = model.requestsOf('main').find(({ session: of }) => of === other.session);
  expect(begun && contextOf(begun)).toContain(v.run);
  const cleared = model.requestsOf('main').find(({ session: of }) => of === fresh.session);
  expect(cleared && contextOf(cleared)).toContain('INSTRUCTIONS-V-BUILD');
  for (const request of model.requestsOf('main')) {
    const isW = request.session === session;
    const foreign = isW ? /INSTRUCTIONS-V|V-DONE/ : /INSTRUCTIONS-W|W-DONE|W-NOTE/;
    expect(contextOf(request)).not.toMatch(foreign);
  }
  const [ofW, ofV] = [await w.state(), await v.state()];
  expect(Object.keys(ofW.sessions)).toEqual(['before', session]);
  expect(Object.keys(ofV.sessions)).toEqual(['before', other.session, fresh.session]);
  expect([ofW.step, ofV.step]).toEqual(['build', 'build']);
});

it('[P4/6] [P4/7] a session that is resumed is told what differs; a fork of it is bound by its first call', async () => {
  stage = await createStage({ ...files, 'docs/plan.md': '# Plan\n' });
  const { at, run, state } = await stage.project.startRun('w');
  const written = { file_path: join(stage.project.root, 'docs/made.md'), content: 'Made.\n' };
  stage.model.on(lastUser(/go on/), toolCall.status(at), reply.tool('Write', written), reply.text('Made.'));
  stage.model.on(lastUser(/again/), reply.text('I see.'));
  stage.model.on(lastUser(/fork/), toolCall.status(at), reply.text('I see.'));
  const { sessions } = await stage.run({ prompts: ['go on'] });
  const [resume = ''] = sessions;
  expect((await state()).artefacts).toEqual(['docs/made.md']);
  expect((await state()).sessions[resume]?.endedAt).toBeDefined();
  rmSync(join(stage.project.root, 'docs/made.md'));
  stage.project.git('checkout', '-q', '-b', 'another');
  const again = await stage.run({ prompts: ['again'], resume });
  expect(lastContext(again)).toContain('SINCE THEN');
  expect(lastContext(again)).toContain('Files that the run produced do not exist here: docs/made.md.');
  expect((await state()).sessions[resume]?.endedAt).toBeDefined();
  const fork = await stage.run({ prompts: ['fork'], resume, args: ['--fork-session'] });
  expect(fork.sessions).not.toEqual(sessions);
  expect(Object.keys((await state()).sessions)).toEqual(['before', resume, ...fork.sessions]);
  expect(run).toBe((await state()).run);
});

it('[P4/8] [pain 15] of subagents in the background one with the handle is briefed, one without has no part', async () => {
  stage = await createStage(files);
  const { at, state } = await stage.project.startRun('w');
  const { model } = stage;
  // One after the other, however late the host starts what is in the background.
  const begun = Promise.withResolvers<void>();
  const task = toolCall.agent('SUB-TASK: do AT and report.', { background: true, at });
  model.on(
    lastUser(/go on/),
    toolCall.status(at),
    toolCall.agent('SUB-PLAIN: look around.', { background: true }),
    (request) => begun.promise.then(() => task(request)),
    reply.text('Handed over.'),
  );
  const write = { file_path: join(stage.project.root, 'stray.md'), content: 'x\n' };
  const look = (): Reply => {
    begun.resolve();
    return reply.tool('Write', write);
  };
  model.on(subagent(/SUB-PLAIN/), look, reply.text('Looked.'));
  model.on(subagent(/SUB-TASK/), toolCall.advance('Planned.', at), reply.text('Planned.'));
  model.always(lastUser(/go on/), reply.text('It has ended.'));
  const { requests, sessions } = await stage.run({ prompts: ['go on'] });
  const [session = ''] = sessions;
  const about = (words: string) =>
    requests.requestsOf('subagent').filter(({ lastUser: text }) => text.includes(words));
  const [first] = about('SUB-TASK');
  expect(first && contextOf(first)).toContain('INSTRUCTIONS-W-PLAN');
  for (const request of about('SUB-PLAIN')) expect(contextOf(request)).not.toContain('INSTRUCTIONS');
  const after = await state();
  const names = Object.keys(after.sessions).filter((name) => name.startsWith(`${session}/`));
  expect(names).toEqual([`${session}/${first?.agent}`]);
  expect(after.sessions[names[0] ?? '']).toMatchObject({ witness: 'hooks', endedAt: expect.any(Number) });
  expect(after.step).toBe('build');
  // What the other session wrote is not recorded as an artifact.
  expect(after.artefacts).toEqual([]);
});

it('[P4/8] [pain 13] a subagent that has claimed a task is held at its stop, one that has not and the parent are not', async () => {
  stage = await createStage({ '.stepfast/workflows/p.yaml': parallel });
  const { run, at, state } = await stage.project.startRun('p');
  const tasks = ['a', 'b'].map((id) => ({ id, title: `Task ${id}` }));
  await runtimeIn(stage.project).call(
    { type: 'setTasks', loop: 'work', tasks },
    { session: 'before' },
    { run },
  );
  const { model } = stage;
  model.on(
    lastUser(/go on/),
    toolCall.status(),
    toolCall.agent('SUB-FREE: look.', { at }),
    toolCall.agent('SUB-CLAIM: claim one.', { at }),
    reply.text('All is done.'),
  );
  model.on(subagent(/SUB-FREE/), reply.text('Looked.'));
  model.on(subagent(/SUB-CLAIM/), toolCall.claim(run), reply.text('I stop here.'));
  model.on(subagent(/Stop hook feedback/), toolCall.advance('Done after all.'), reply.text('Done.'));
  const { requests, turns } = await stage.run({ prompts: ['go on'] });
  expect(turns[0]?.result).toBe('All is done.');
  const claimed = requests.requestsOf('subagent').filter(({ lastUser: text }) => !text.includes('SUB-FREE'));
  expect(claimed.some((request) => contextOf(request).includes('Stop hook feedback'))).toBe(true);
  expect(
    requests.requestsOf('main').some((request) => contextOf(request).includes('Stop hook feedback')),
  ).toBe(false);
  expect(Object.keys((await state()).outputs)).toHaveLength(1);
});

it('[P4/8] a subagent reviews what its parent did, which the parent may not, from its shell neither', async () => {
  const reviewed = `name: r
description: One step
agents: { critic: { description: Reviews } }
steps:
  - { id: plan, type: action, review: { by: critic }, instructions: INSTRUCTIONS-PLAN }
`;
  stage = await createStage({ '.stepfast/workflows/r.yaml': reviewed });
  const verdict = { verdict: 'approve', output: 'It is good.' };
  const approve = (at: string) => reply.tool('mcp__stepfast__workflow_advance', { at, ...verdict });
  const { at, state } = await stage.project.startRun('r');
  stage.model.on(
    lastUser(/go on/),
    toolCall.status(at),
    toolCall.advance('Planned.', at),
    approve(at),
    toolCall.bash(`'${process.execPath}' '${cli}' review approve --as critic --at '${at}' --json`),
    toolCall.agent('SUB-REVIEW: review AT.', { at }),
    reply.text('Reviewed.'),
  );
  stage.model.on(subagent(/SUB-REVIEW/), approve(at), reply.text('Approved.'));
  const ran = await stage.run({ prompts: ['go on'] });
  const [, advanced, refused, shell] = toolResults(ran);
  expect(shell).toContain('"code": "own_work"');
  expect(advanced).toMatch(/"waiting":\{[^}]*critic/);
  expect(refused).toMatch(/"code":"own_work"/);
  expect((await state()).status).toBe('complete');
});

/** Stepfast's hooks inside the real Copilot CLI: what stood in the model's requests, and what the run knows of it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { contextOf, forgetsAll, lastUser, mainTurn, reply, summariser } from '../../../src/testing/index.ts';
import { type CopilotLab, call, createCopilotLab } from '../../kit/copilot.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`;
const files = { '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' };

/** Of its 128,000 tokens; the host then compacts beside the turn. */
const nearlyFull = { usage: { input_tokens: 110_000 } };

let lab: CopilotLab;
afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

const times = (text: string | undefined, part: string): number => (text ?? '').split(part).length - 1;

it('[P4/1] [002/7] a typed continue briefs a new session and binds it, the delivery is proven, its files are recorded', async () => {
  lab = await createCopilotLab(files);
  const { state } = await lab.project.startRun('w');
  const path = (name: string) => join(lab.project.root, name);
  lab.model.on(
    lastUser(/continue/),
    call.view(path('docs/auth.md')),
    call.create(path('form.ts'), '1\n'),
    reply.text('Going on.'),
  );
  expect((await lab.prompt('continue')).code).toBe(0);
  expect(lab.contexts()[0]).toContain('INSTRUCTIONS-PLAN');
  const [session = ''] = lab.sessions();
  const after = await state();
  expect(after.sessions[session]).toMatchObject({ host: 'copilot', witness: 'hooks' });
  expect(after.sessions[session]?.endedAt).toBeDefined();
  expect(after.briefings[session]?.proven).toBe('transcript');
  expect(Object.keys(after.reading)).toEqual(['{project_root}/docs/auth.md']);
  expect(after.artefacts).toEqual(['form.ts']);
});

it('a resumed session is briefed again, and a new one is offered the run without its instructions', async () => {
  lab = await createCopilotLab(files);
  lab.model.on(lastUser(/begin/), call.start('w'), reply.text('Begun.'));
  lab.model.on(lastUser(/go on/), reply.text('Going on.'));
  lab.model.on(lastUser(/README/), reply.text('Nothing much.'));
  await lab.prompt('begin');
  await lab.prompt('go on', { resume: true });
  const [session = ''] = lab.sessions();
  const { run, state } = await lab.project.onlyRun();
  expect(Object.keys((await state()).sessions)).toEqual([session]);
  expect(times(lab.contexts().at(-1), 'ACTION REQUIRED')).toBe(1);
  await lab.prompt('What is in the README?');
  expect(lab.sessions()).toHaveLength(2);
  expect(lab.contexts().at(-1)).toContain(run);
  expect(lab.contexts().at(-1)).not.toContain('INSTRUCTIONS-PLAN');
  expect(Object.keys((await state()).sessions)).toEqual([session]);
});

it('[P4/4] [pain 2] after a manual compaction the next prompt has the briefing once, and the run knows of the reset', async () => {
  lab = await createCopilotLab(files);
  lab.model.on(lastUser(/begin/), call.start('w'), reply.text('Begun.'));
  lab.model.always(summariser(), forgetsAll());
  lab.model.on(lastUser(/and now/), call.bash('ls'), reply.text('Going on.'));
  await lab.prompt('begin');
  await lab.prompt('/compact', { resume: true });
  await lab.prompt('and now', { resume: true });
  expect(lab.model.requestsOf('summariser')).toHaveLength(1);
  expect(times(lab.contexts().at(-2), 'INSTRUCTIONS-PLAN')).toBe(1);
  const { state, events } = await lab.project.onlyRun();
  const [session = ''] = lab.sessions();
  expect((await state()).sessions[session]?.resets).toBe(1);
  expect((await state()).briefings[session]?.proven).toBe('transcript');
  expect(await events('compaction.recorded')).toMatchObject([{ trigger: 'manual' }]);
});

it('[P4/4] [pain 5] after an automatic compaction beside the turn, the next tool brings the briefing', async () => {
  lab = await createCopilotLab(files);
  const done = join(lab.config, 'session-state');
  const compacted = (): boolean =>
    readdirSync(done)
      .filter((name) => !name.startsWith('.'))
      .some((name) => readFileSync(join(done, name, 'events.jsonl'), 'utf8').includes('compaction_complete'));
  let [count, briefed] = [0, 0];
  lab.model.always(mainTurn(), ({ body }) => {
    count += 1;
    if (count === 1) return call.start('w');
    if (count === 2) return call.bash('true', nearlyFull);
    // It is applied when it is done: the agent works on until it is briefed, and a little longer.
    if (contextOf({ body }).includes('ACTION REQUIRED')) briefed += 1;
    return briefed < 3 && count < 100 ? call.bash(`echo ${count}`) : reply.text('Done.');
  });
  lab.model.always(summariser(), forgetsAll());
  await lab.prompt('loop');
  expect(compacted()).toBe(true);
  expect(lab.contexts().at(-1)).toContain('ACTION REQUIRED');
  const { state, events } = await lab.project.onlyRun();
  const [session = ''] = lab.sessions();
  expect((await state()).sessions[session]?.resets).toBe(1);
  expect((await state()).briefings[session]?.proven).toBe('transcript');
  expect(await events('compaction.recorded')).toMatchObject([{ trigger: 'auto' }]);
});

it('[pain 8] a briefing that would be too long arrives whole, within the limit of the host', async () => {
  const long = JSON.stringify(`${'Nothing is more certain than this sentence. '.repeat(400)}LAST-WORDS`);
  lab = await createCopilotLab({
    '.stepfast/workflows/w.yaml': workflow.replace('INSTRUCTIONS-PLAN', long),
    'docs/auth.md': '# Auth\n',
  });
  const { at, state } = await lab.project.startRun('w');
  lab.model.on(lastUser(/continue/), call.status(at), reply.text('Noted.'));
  await lab.prompt('continue');
  expect(lab.contexts()[0]).toContain('ACTION REQUIRED');
  expect((await state()).briefings[lab.sessions()[0] ?? '']?.proven).toBe('transcript');
});

it('[002/9] without a run nothing is added to a session', async () => {
  lab = await createCopilotLab({});
  lab.model.on(lastUser(/hello/), call.bash('ls'), reply.text('Hi.'));
  expect((await lab.prompt('hello')).code).toBe(0);
  for (const context of lab.contexts()) expect(context).not.toMatch(/Stepfast|Additional guidance/);
  expect(lab.logged()).toEqual([]);
  expect(readdirSync(lab.project.root)).not.toContain('.stepfast');
});

it('[pain 4] [pain 7] hooks of the repository and of Claude Code fire as well, and the session is briefed once', async () => {
  lab = await createCopilotLab(files);
  const { root } = lab.project;
  const { at } = await lab.project.startRun('w');
  const top = join(import.meta.dirname, '..', '..', '..');
  const place = (file: string, to: string, variable: string): void => {
    const text = readFileSync(join(top, file), 'utf8');
    mkdirSync(join(root, to, '..'), { recursive: true });
    const from = variable === 'PLUGIN_ROOT' ? join(top, 'copilot') : top;
    writeFileSync(join(root, to), text.replaceAll(`\${${variable}}`, from));
  };
  place('hooks/hooks.json', '.claude/settings.json', 'CLAUDE_PLUGIN_ROOT');
  place('copilot/hooks.json', '.github/hooks/stepfast.json', 'PLUGIN_ROOT');
  lab.model.on(lastUser(/continue/), call.status(at), call.bash('ls'), reply.text('Noted.'));
  await lab.prompt('continue', { permissions: ['--allow-all-tools', '--trust-folder'] });
  expect(times(lab.contexts().at(-1), 'ACTION REQUIRED')).toBe(1);
  expect(lab.logged().filter((line) => line.startsWith('injected'))).toHaveLength(1);
});

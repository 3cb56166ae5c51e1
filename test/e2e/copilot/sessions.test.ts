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
  expect((await state()).sessions[session]).toMatchObject({ resets: 1, endedAt: expect.any(Number) });
  expect((await state()).briefings[session]?.proven).toBe('transcript');
  expect(await events('compaction.recorded')).toMatchObject([{ trigger: 'auto' }]);
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

/** What a session in any host must show: tests for a file of each host. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { State } from '../../src/machine/index.ts';
import {
  contextOf,
  forgetsAll,
  type LoggedRequest,
  lastUser,
  mainTurn,
  reply,
  summariser,
  toolCall,
} from '../../src/testing/index.ts';
import type { HostSession, HostStage, Part, SessionHost } from './host-stage.ts';
import { loseOutput } from './staged-hook.ts';
import { stepfastIn } from './stepfast-in.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
key_reminders: [REMINDER-TESTS]
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`;

/** Passes once `total.txt` has 42 in it. */
const passes = 'grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }';

const checked = `name: c
description: Does it
stop: check
steps:
  - { id: do, type: action, instructions: INSTRUCTIONS-DO, gate: [{ run: ${JSON.stringify(passes)} }] }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL, gate: [{ run: test -f told.txt }] }
`;

const files = {
  '.stepfast/workflows/w.yaml': workflow,
  '.stepfast/workflows/c.yaml': checked,
  'docs/auth.md': '# Auth\nAUTH-TEXT\n',
  'total.txt': '41\n',
};

export function sessionSuite(host: SessionHost, part: Part = 'all'): void {
  let stage: HostStage;
  let sessions: HostSession[];
  let before: (string | undefined)[];

  beforeEach(async () => {
    sessions = [];
    stage = await host.prepare({ ...host.settings, ...files });
    before = host.personFiles(stage).map(read);
    await (host.install?.(stage, init) ?? init());
    stage.project.trust('c');
  });
  afterEach(async () => {
    for (const session of sessions) await session.end();
    await stage.model[Symbol.asyncDispose]();
    stage.project[Symbol.dispose]();
  });

  const init = async (): Promise<void> => {
    const installed = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
  };
  const open = async (resume?: string): Promise<HostSession> => {
    const session = await host.open(stage, resume);
    sessions.push(session);
    return session;
  };
  const mains = (): LoggedRequest[] => stage.model.requestsOf('main');
  const stateOf = async (): Promise<State> => await (await stage.project.onlyRun()).state();
  const last = (): string => contextOf(mains().at(-1) ?? expect.unreachable());
  const expectReset = async ({ id }: HostSession, trigger: 'manual' | 'auto'): Promise<void> => {
    const { events, state } = await stage.project.onlyRun();
    const recorded = { session: id, ...(host.hidesTrigger ? {} : { trigger }) };
    expect(await events('compaction.recorded')).toMatchObject([recorded]);
    expect((await state()).sessions[id]).toMatchObject({ resets: 1 });
    expect((await state()).briefings[id]).toMatchObject({ proven: 'transcript' });
  };

  if (part !== 'rest')
    it('a session at its start is offered the run, and a typed continue briefs it, proven, with its files recorded', async () => {
      const { run, at, state } = await stage.project.startRun('w');
      const { root } = stage.project;
      stage.model.on(lastUser(/README/), reply.text('Nothing much.'));
      stage.model.on(
        lastUser(/continue/),
        host.own('workflow_status', { at }),
        host.read('docs/auth.md', root),
        host.write('src/form.ts', '1', root),
        reply.text('Restored.'),
      );
      stage.model.on(lastUser(/thanks/), reply.text('Welcome.'));
      const session = await open();
      await session.send('What is in the README?');
      const offer = last();
      expect(offer).toContain(run);
      expect(offer).not.toContain(at);
      await session.send('continue');
      await session.send('thanks');
      expect(last()).toContain('INSTRUCTIONS-PLAN');
      expect(last()).toContain('REMINDER-TESTS');
      const after = await state();
      expect(after.sessions[session.id]).toMatchObject({ host: host.name, witness: 'hooks' });
      expect(after.briefings[session.id]?.proven).toMatch(/handle|transcript/);
      expect(Object.keys(after.reading)).toEqual(['{project_root}/docs/auth.md']);
      expect(after.artefacts).toEqual(['src/form.ts']);
    });
  if (part === 'smoke') return;

  describe('a session', () => {
    it('without a run costs nothing: no text, no file', async () => {
      rmSync(join(stage.project.root, '.stepfast'), { recursive: true });
      stage.model.on(lastUser(/hello/), host.shell('echo tool'), reply.text('Hello.'));
      await (await open()).send('hello');
      expect(mains()).toHaveLength(2);
      expect(stage.model.containing(/Briefing b-/)).toEqual([]);
      expect(existsSync(join(stage.project.root, '.stepfast'))).toBe(false);
    });

    it('takes a run to its end by its tools', async () => {
      const { at, state } = await stage.project.startRun('w');
      stage.model.on(
        lastUser(/continue/),
        toolCall.advance('Planned.', at),
        toolCall.advance('Built.'),
        reply.text('All done.'),
      );
      await (await open()).send('continue');
      expect(await state()).toMatchObject({
        status: 'complete',
        outputs: { plan: { text: 'Planned.' }, build: { text: 'Built.' } },
      });
    });

    it('that is resumed is briefed and goes on with its run, and a new one is offered it', async () => {
      stage.model.on(lastUser(/begin/), host.own('workflow_start', { workflow: 'w' }), reply.text('Yes.'));
      stage.model.on(lastUser(/still there/), toolCall.advance('Planned.'), reply.text('Yes.'));
      stage.model.on(lastUser(/who are you/), reply.text('New.'));
      const first = await open();
      await first.send('begin');
      expect(last()).not.toContain('ACTION REQUIRED');
      await first.end();
      const again = await open(first.id);
      expect(again.id).toBe(first.id);
      await again.send('still there?');
      expect(last().split('ACTION REQUIRED')).toHaveLength(2);
      expect((await stateOf()).step).toBe('build');
      await again.end();
      await (await open()).send('who are you?');
      const { run, sessions: bound } = await stateOf();
      expect(last()).toContain(run);
      expect(last()).not.toContain('INSTRUCTIONS-BUILD');
      expect(Object.keys(bound)).toEqual([first.id]);
    });

    it('a command that is typed starts a run, and its briefing is in the same turn', async () => {
      stage.model.on(mainTurn(), reply.text('I will.'));
      await (await open()).send(host.command('start w make a form'));
      expect(contextOf(mains()[0] ?? expect.unreachable())).toContain('INSTRUCTIONS-PLAN');
      expect(await stateOf()).toMatchObject({ workflow: 'w', summary: 'make a form' });
    });

    it('a decision that is typed is recorded only where the host shows who typed it', async () => {
      const { at, state } = await stage.project.startRun('w');
      stage.model.always(mainTurn(), reply.text('Yes.'));
      stage.model.on(lastUser(/continue/), host.own('workflow_status', { at }), reply.text('Yes.'));
      const session = await open();
      await session.send('continue');
      await session.send(host.command('cancel'));
      // No person sits at this session.
      expect((await state()).status).toBe('running');
    });
  });

  describe('[pain 4] a compaction', () => {
    it('that the person asks for is followed by the briefing, with what was decided', async () => {
      stage.model.on(
        lastUser(/begin/),
        host.own('workflow_start', { workflow: 'w' }),
        toolCall.note('DECISION-PASSKEY'),
        reply.text('Noted.'),
      );
      stage.model.always(summariser(), forgetsAll());
      stage.model.always(mainTurn(), reply.text('Going on.'));
      const session = await open();
      await session.send('begin');
      await session.compact();
      for (const prompt of ['and now?', 'more']) await session.send(prompt);
      const first = stage.model.firstRequestAfterCompaction();
      for (const kept of ['DECISION-PASSKEY', 'INSTRUCTIONS-PLAN', 'REMINDER-TESTS'])
        expect(contextOf(first)).toContain(kept);
      expect(last().split('INSTRUCTIONS-PLAN')).toHaveLength(2);
      await expectReset(session, 'manual');
    });

    it('by the host in mid-turn is followed by the briefing', async () => {
      const { at } = await stage.project.startRun('w');
      stage.model.on(
        lastUser(/continue/),
        host.own('workflow_note', { at, kind: 'decision', text: 'DECISION-PASSKEY' }),
        host.shell('echo full', { usage: host.nearlyFull }),
        host.shell('echo more'),
        host.shell('echo and more'),
        reply.text('Going on.'),
      );
      stage.model.always(summariser(), forgetsAll());
      stage.model.always(mainTurn(), reply.text('Yes.'));
      const session = await open();
      await session.send('continue');
      await session.send('and now?');
      expect(stage.model.requestsOf('summariser')).not.toEqual([]);
      const found =
        host.afterCompaction === 'next turn' ? mains().at(-1) : stage.model.firstRequestAfterCompaction();
      expect(contextOf(found ?? expect.unreachable())).toContain('DECISION-PASSKEY');
      await session.send('more');
      await expectReset(session, 'auto');
    });
  });

  describe('the end of a turn', () => {
    it('of an agent that never calls a tool of Stepfast is checked: red continues it, green brings the next step', async () => {
      stage.model.on(lastUser(/make it 42/), host.shell('echo 43 > total.txt'), reply.text('Done!'));
      stage.model.on(
        ({ kind, ...request }) => kind === 'main' && contextOf(request).includes('not ok 1'),
        host.shell('echo 42 > total.txt'),
        reply.text('Fixed.'),
      );
      stage.model.on(
        ({ kind, ...request }) => kind === 'main' && contextOf(request).includes('INSTRUCTIONS-TELL'),
        host.shell('touch told.txt'),
        reply.text('Told.'),
      );
      const session = await open();
      await session.send(host.command('start c make it 42'));
      await expect.poll(async () => (await stateOf()).status).toBe('complete');
      expect(stage.model.left()).toBe(0);
      const { events } = await stage.project.onlyRun();
      const verdicts = (await events('gates.finished')).map(({ pass }) => pass);
      expect(verdicts).toEqual([false, true, true]);
    });

    it('is held a few times, never for ever', async () => {
      stage.model.always(mainTurn(), reply.text('It is done, I promise.'));
      stage.model.on(lastUser(/make it 42/), host.shell('echo 43 > total.txt'), reply.text('Done!'));
      const session = await open();
      await session.send(host.command('start c make it 42'));
      expect((await stateOf()).status).toBe('running');
      expect(mains().length).toBeLessThanOrEqual(6);
      expect(await (await stage.project.onlyRun()).events('stop.held')).toHaveLength(3);
    });
  });

  describe('[pain 6] a briefing that is lost on its way', () => {
    it('comes with the next tool of the turn, once', async () => {
      const { state } = await stage.project.startRun('w');
      loseOutput(stage, 'INSTRUCTIONS-PLAN');
      stage.model.on(
        lastUser(/continue/),
        host.shell('echo one'),
        host.shell('echo two'),
        host.shell('echo three'),
        reply.text('Done.'),
      );
      stage.model.on(lastUser(/thanks/), reply.text('Welcome.'));
      const session = await open();
      await session.send('continue');
      expect(contextOf(mains()[0] ?? expect.unreachable())).not.toContain('INSTRUCTIONS-PLAN');
      expect(last().split('INSTRUCTIONS-PLAN')).toHaveLength(2);
      await session.send('thanks');
      expect((await state()).briefings[session.id]?.proven).toBe('transcript');
    });

    it('is found missing and comes with a later prompt where the agent calls no tool', async () => {
      const { state } = await stage.project.startRun('w');
      loseOutput(stage, 'INSTRUCTIONS-PLAN');
      stage.model.always(mainTurn(), reply.text('Yes.'));
      const session = await open();
      await session.send('continue');
      expect(last()).not.toContain('INSTRUCTIONS-PLAN');
      expect((await state()).briefings[session.id]?.proven).toBeUndefined();
      // The next one may be too early to look.
      for (const prompt of ['more', 'and more']) await session.send(prompt);
      expect(last()).toContain('INSTRUCTIONS-PLAN');
      await session.send('the last');
      expect((await state()).briefings[session.id]?.proven).toBe('transcript');
    });
  });

  it('a briefing that is too long is cut to what the host delivers whole', async () => {
    const long = Array.from({ length: 400 }, (_, n) => `LINE-${n} of the instructions, word for word.`);
    const { at, state } = await stage.project.startRun('w');
    stage.model.on(
      lastUser(/continue/),
      ...long.slice(0, 40).map((_, n) =>
        host.own('workflow_note', {
          at,
          kind: 'decision',
          text: long.slice(n * 8, n * 8 + 8).join(' '),
        }),
      ),
      reply.text('Noted.'),
    );
    stage.model.always(summariser(), forgetsAll());
    stage.model.always(mainTurn(), reply.text('Yes.'));
    const session = await open();
    await session.send('continue');
    await session.compact();
    await session.send('and now?');
    const text = contextOf(stage.model.firstRequestAfterCompaction());
    const [briefing = ''] = /RUN\nBriefing b-[\s\S]*/.exec(text) ?? [];
    expect(briefing).toContain('INSTRUCTIONS-PLAN');
    expect(briefing.length).toBeGreaterThan(2_000);
    // Some of the notes, and where the rest is.
    expect(briefing).toContain('LINE-');
    expect(briefing).not.toContain('LINE-150 ');
    await session.send('thanks');
    expect((await state()).briefings[session.id]?.proven).toBe('transcript');
  });

  it('a budget of turns that is used up ends the work', async () => {
    const budgeted = checked
      .replace('stop: check', 'stop: check\nbudget: { turns: 1 }')
      .replace('name: c', 'name: b');
    stage.project.write({ '.stepfast/workflows/b.yaml': budgeted });
    stage.project.trust('b');
    stage.model.always(mainTurn(), reply.text('Yes.'));
    const session = await open();
    await session.send(host.command('start b make it 42'));
    await session.send('go on');
    const { status, budget, total } = await stateOf();
    expect({ status, total }).toMatchObject({ status: 'waiting', total: { exhausted: 'turns' } });
    expect(budget.tokens).toBeGreaterThan(1_000);
  });

  it('uninstall leaves every byte as before, and the next session has nothing of Stepfast', async () => {
    // What the person trusts is written, too.
    stage.model.on(lastUser(/hello/), reply.text('Hello.'));
    const session = await open();
    await session.send('hello');
    await session.end();
    const removed = await stepfastIn(stage, 'uninstall', '--yes', '--host', host.name);
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
    expect(host.personFiles(stage).map(read)).toEqual(before);
    stage.model.on(lastUser(/and now/), reply.text('Hello.'));
    await stage.project.startRun('w');
    await (await open()).send('and now?');
    expect(last()).not.toContain('Stepfast');
  });
}

const read = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

import { expect, test } from 'vitest';
import { action, cursor, Run, workflow } from '../../../test/kit/run.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import type { PrincipalKind } from '../../schema/index.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { showDecision } from './show-review.ts';

/** What a person sees before deciding on work whose gate was reported with such a token. */
async function shown(kind: PrincipalKind): Promise<string> {
  const run = new Run(workflow([action('work', { gate: [{ run: 'npm test' }], review: { by: 'human' } })]));
  const claude = { kind: 'agent', subject: 'claude' } as const;
  run.send({ type: 'advance', output: 'done', actor: { kind: 'agent', principal: claude } });
  run.send({
    type: 'gatesFinished',
    id: cursor(run)?.checking?.id ?? '',
    receipts: [{ gate: 0, pass: true, exit: 0 }],
    actor: { kind: 'engine', principal: { kind, subject: 'x' } },
  });
  const { definition, state } = run;
  const view = { run: state.run, definition, hash: '', state, version: { seq: 1, hash: '' } };
  const runtime = { engine: { text: async (_: string, text: string) => text } } as unknown as LocalRuntime;
  const fake = createFakeIo();
  await showDecision({ view, cursor: cursor(run) ?? expect.unreachable() }, runtime, fake.io);
  return fake.stderr();
}

test('whose work it is', async () => {
  expect(await shown('runner')).toMatch(/^waits +review of claude's work/m);
});

test("S4: a check that an agent's token reported has its label, and one of a runner has none", async () => {
  const evidence = (text: string) => /^evidence .*$/m.exec(text)?.[0];
  expect(evidence(await shown('agent'))).toMatch(/npm test passed, reported by the agent$/);
  expect(evidence(await shown('runner'))).toMatch(/npm test passed$/);
});

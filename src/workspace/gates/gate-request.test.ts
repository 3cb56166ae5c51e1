import { expect, test } from 'vitest';
import { action, cursor, Run, workflow } from '../../../test/kit/run.ts';
import type { PrincipalKind } from '../../schema/index.ts';
import { gateRequest } from './gate-request.ts';

const gates = { gate: [{ run: 'npm test' }] };
const project = { worktree: '/p', root: '/p', directory: '/p/.stepfast', git: false, worktrees: '/w' };

/** What the second step may reuse of the first, whose gate was reported with such a token. */
function reusable(kind: PrincipalKind | undefined) {
  const run = new Run(workflow([action('work', gates), action('verify', gates), action('end')]));
  const principal = kind && { kind, subject: 'x' };
  run.advance('done');
  run.send({
    type: 'gatesFinished',
    id: cursor(run)?.checking?.id ?? '',
    receipts: [{ gate: 0, pass: true, exit: 0, tree: 'sha256:1' }],
    actor: { kind: 'engine', ...(principal && { principal }) },
  });
  run.advance('verified');
  const { definition, state } = run;
  const at = cursor(run) ?? expect.unreachable();
  const checking = at.checking ?? expect.unreachable();
  const context = { values: {}, outputs: {} };
  return gateRequest({ definition, state, cursor: at, checking, context, project, env: {} }).passed;
}

test.each([undefined, 'runner'] as const)('a gate that passed before is reused: reported by %s', (kind) => {
  expect(reusable(kind)).toMatchObject([{ tree: 'sha256:1' }]);
});

test.each(['agent', 'person'] as const)(
  'a gate is run again where the token of an %s reported it',
  (kind) => {
    expect(reusable(kind)).toEqual([]);
  },
);

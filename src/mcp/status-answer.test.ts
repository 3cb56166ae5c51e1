import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { actionSamples } from '../../test/kit/message-samples.ts';
import type { Action, Receipt } from '../machine/index.ts';
import { nextForTools, type StatusText, statusText } from '../messages/index.ts';
import type { AnsweredStatus } from '../runtime/index.ts';
import { statusAnswer } from './status-answer.ts';

const at = 'k3f9x2ab:implementation/task-0417/verify-change#12';
const plain = (more: Partial<AnsweredStatus> = {}): AnsweredStatus => ({
  run: 'implement-feature-20261114-k3f9x2ab',
  status: 'running',
  at,
  step: 'implementation',
  stepType: 'loop',
  phase: { current: 3, total: 7, name: 'implementation', status: 'in_progress' },
  task: { index: 416, id: 'task-0417', title: 'Parse the header of the archive format', total: 1000 },
  subStep: 'verify-change',
  subStepIndex: 1,
  totalSubSteps: 3,
  agent: 'reviewer',
  delegate: true,
  progress: { currentStep: 3, totalSteps: 7, completedTasks: 416, totalTasks: 1000 },
  action: { do: 'work', at, step: 'implementation', finish: 'advance' },
  ...more,
});

const told = (more: Partial<AnsweredStatus> = {}): StatusText<AnsweredStatus> =>
  statusText(plain(more), (action) => nextForTools(action));

const gate = (tail: string, what = 'npm test'): Receipt => ({
  gate: 0,
  pass: false,
  exit: 1,
  tail,
  role: 'gate',
  what,
});

const tokensBeside = (answer: object): number => {
  const { instructions: _, ...rest } = answer as { instructions?: string };
  return encode(JSON.stringify(rest)).length;
};

const stack = `AssertionError: expected 3 to be 4
    at Object.<anonymous> (/home/user/project/src/components/Button.test.tsx:42:17)
    at processTicksAndRejections (node:internal/process/task_queues:105:5)
`;
const tails: Record<string, string> = {
  stack: stack.repeat(25),
  'one long line': 'x9Qk/2v+'.repeat(512),
  Chinese: '測試失敗：預期值與實際值不符。\n'.repeat(250),
  Russian: 'Ошибка: ожидалось другое значение\n'.repeat(120),
  emoji: '❌ 🧪 👩‍💻 🔥\n'.repeat(300),
  colours: '\u001b[31mFAIL\u001b[39m src/a.test.ts\n'.repeat(130),
  blank: '\n\n\n\t\t\t.'.repeat(600),
};

describe('an answer stays within 300 tokens beside the instructions', () => {
  it.each(Object.entries(tails))('with failed gates whose output is %s', (_, tail) => {
    for (const count of [1, 2, 40]) {
      const failed = Array.from({ length: count }, (__, index) => gate(tail, `npm run check-${index}`));
      const answer = statusAnswer(told({ failed_gates: failed, instructions: 'Verify it.' }));
      expect(tokensBeside(answer)).toBeLessThanOrEqual(300);
      expect(answer.more).toBe('the output in full: workflow_context, section status');
      expect(answer.failed_gates?.[0]).toMatchObject({ gate: 'npm run check-0', exit: 1 });
    }
  });

  it('and shows the end of an output that names no failure, whole where it fits', () => {
    const end = '3 tests are red\nexit 1';
    const long = statusAnswer(told({ failed_gates: [gate(`${'compiling a file\n'.repeat(200)}${end}\n`)] }));
    expect(long.failed_gates?.[0]?.tail).toMatch(/3 tests are red\nexit 1$/);
    const short = statusAnswer(told({ failed_gates: [gate(`${end}\n`)] }));
    expect(short).toMatchObject({ failed_gates: [{ tail: end }] });
    expect(short.more).toBeUndefined();
  });

  it('with everything at once that can be long', () => {
    const words = 'The parser reads past the end of the buffer when the header is short. '.repeat(40);
    const answer = statusAnswer(
      told({
        status: 'waiting',
        reason: words,
        task: { index: 1, id: 'task-0417', title: words, total: 1000 },
        waiting: { for: 'question', by: 'human', question: words },
        checking: { id: 'x', deadline: 1 },
        replayed: true,
        interrupted: true,
        last_failure: words,
        failed_gates: [gate(words)],
        unstable_files: Array.from({ length: 500 }, (_, index) => `src/generated/file-${index}.ts`),
      }),
      {
        worktree: '/home/user/project/.stepfast/worktrees/implement-feature-20261114-k3f9x2ab/task-0417',
        warning: words,
        restored: true,
      },
    );
    expect(tokensBeside(answer)).toBeLessThanOrEqual(300);
    expect(answer).toMatchObject({ checking: true, retry_after: 5, replayed: true, interrupted: true });
  });

  it('with a context action, and with a thousand tasks to claim', () => {
    const message = `Hand ${at} to a subagent, or end your turn. Please run \`/compact\` first, then call workflow_status again.`;
    const action = told({ contextAction: '/compact', message });
    expect(tokensBeside(statusAnswer(action))).toBeLessThanOrEqual(300);
    const { at: _, task: __, subStep: ___, ...list } = told();
    const held = Array.from({ length: 50 }, (____, index) => ({
      at: `k3f9x2ab:implementation/task-${index}/verify-change#1`,
      task: `task-${index}`,
      holder: `mcp-${index}x8Kq2`,
    }));
    const ready = Array.from({ length: 20 }, (____, index) => `task-${index + 50}`);
    const listed = statusAnswer({ ...list, held, ready });
    expect(tokensBeside(listed)).toBeLessThanOrEqual(300);
    expect(listed.held?.length).toBeGreaterThan(0);
    expect(listed.more).toBeDefined();
  });
});

describe('an answer with the longest that can be next stays within 300 tokens', () => {
  const ids = Array.from({ length: 30 }, (_, index) => `parse-the-header-of-format-${index}`);
  const long = actionSamples.map((action): Action => {
    if (action.do !== 'continue' && 'at' in action) return { ...action, at };
    if (action.do !== 'claim') return action;
    const open = ids.map((task) => ({ task, state: { is: 'depends' as const, on: ids } }));
    return { ...action, own: ids.slice(0, 4).map((id) => `${at}${id}`), open, run: told().run };
  });
  const delegate = { agent: 'reviewer', description: 'Looks for mistakes. '.repeat(30), cannot: ids };
  const message = `Hand ${at} to a subagent, or end your turn. Please run \`/compact\` first, then call workflow_status again.`;

  it.each<Action>([...long, { do: 'work', at, step: 'x', finish: 'advance', delegate }])(
    '$do $for',
    (action) => {
      const reset = action.do === 'reset_context' ? { contextAction: '/compact' as const, message } : {};
      const worktree = '/home/user/project/.stepfast/worktrees/implement-feature-20261114-k3f9x2ab/task-0417';
      expect(tokensBeside(statusAnswer(told({ action, ...reset }), { worktree }))).toBeLessThanOrEqual(300);
    },
  );
});

it('a review’s words and the answers to questions come with the instructions', () => {
  const answer = statusAnswer(
    told({
      instructions: 'Build it.',
      feedback: '**[REVIEW_FEEDBACK]:** "shorter"',
      answers: [{ question: 'Which?', answer: 'The first.' }],
    }),
  );
  expect(answer.instructions).toBe(
    '**[REVIEW_FEEDBACK]:** "shorter"\n\nBuild it.\n\nQuestion: Which?\nAnswer: The first.',
  );
  expect(statusAnswer(told({ feedback: 'x' })).instructions).toBeUndefined();
});

it('instructions that a host would cut are cut here, visibly', () => {
  const { instructions = '' } = statusAnswer(told({ instructions: 'Do this and that. '.repeat(20_000) }));
  expect(encode(instructions).length).toBeLessThan(20_000);
  expect(instructions.endsWith('…')).toBe(true);
});

it('no secret of a gate, a question or a summary is in an answer, and handles and paths stay', () => {
  const token = `gh${'p_'}${'aB3dE5'.repeat(6)}`;
  const line = 'MIIEpAIBAAKCAQEA7v0k2Xq3'.repeat(2);
  const tail = `${line}\n${line}\n-----END RSA PRIVATE ${'KEY'}-----\nError: used ${token}`;
  const waiting = { for: 'question' as const, by: 'human' as const, question: `Is ${token} right?` };
  const asked = told({ waiting, last_failure: `with ${token}` });
  const red = statusAnswer(told({ failed_gates: [gate(tail, `curl -u admin:${'Tr0ub4dor1'} h`)] }));
  const answer = statusAnswer(asked, { worktree: '/w/token-store-v2', warning: token });
  for (const secret of [token.slice(0, 12), line, 'Tr0ub4dor1'])
    expect(JSON.stringify([red, answer])).not.toContain(secret);
  expect(red.failed_gates?.[0]?.tail).toContain('used [secret removed: github-token]');
  expect(answer).toMatchObject({
    at: asked.at,
    run: asked.run,
    worktree: '/w/token-store-v2',
    next: asked.next,
  });
});

it('[L/baseline] tells what gates were before the work, and of a red gate whether it was red', () => {
  const baseline = [{ what: 'npm test', pass: false, exit: 1 }];
  const opened = statusAnswer(told({ baseline }));
  expect(opened.baseline).toEqual([{ gate: 'npm test', pass: false }]);
  const red = statusAnswer(told({ baseline, failed_gates: [{ ...gate('x'), before: 'fail' }] }));
  expect(red).toMatchObject({ failed_gates: [{ gate: 'npm test', before: 'fail' }] });
  expect(red.baseline).toBeUndefined();
  const many = Array.from({ length: 50 }, (_, index) => ({
    what: `npm run check-${index} ${'x'.repeat(90)}`,
    pass: true,
  }));
  expect(tokensBeside(statusAnswer(told({ baseline: many })))).toBeLessThanOrEqual(300);
});

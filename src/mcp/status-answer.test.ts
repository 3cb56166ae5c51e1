import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../machine/index.ts';
import type { Told } from '../runtime/index.ts';
import { refusalAnswer, statusAnswer } from './status-answer.ts';

const told = (more: Partial<Told> = {}): Told => ({
  run: 'implement-feature-20261114-k3f9x2ab',
  status: 'running',
  at: 'k3f9x2ab:implementation/task-0417/verify-change#12',
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
  next: 'Do what the instructions say, then advance k3f9x2ab:implementation/task-0417/verify-change#12.',
  ...more,
});

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
      expect(answer.rest).toBe('workflow_context with section status');
      expect(answer.failed_gates?.[0]).toMatchObject({ gate: 'npm run check-0', exit: 1 });
    }
  });

  it('and shows the end of the output, whole where it fits', () => {
    const end = '3 tests failed\nexit 1';
    const long = statusAnswer(told({ failed_gates: [gate(`${tails.stack}${end}\n`)] }));
    expect(long.failed_gates?.[0]?.tail).toMatch(/3 tests failed\nexit 1$/);
    const short = statusAnswer(told({ failed_gates: [gate(`${end}\n`)] }));
    expect(short).toMatchObject({ failed_gates: [{ tail: end }] });
    expect(short.rest).toBeUndefined();
  });

  it('with everything at once that can be long', () => {
    const words = 'The parser reads past the end of the buffer when the header is short. '.repeat(40);
    const answer = statusAnswer(
      told({
        status: 'failed',
        reason: words,
        task: { index: 1, id: 'task-0417', title: words, total: 1000 },
        waiting: { for: 'question', by: 'human', what: words },
        checking: { id: 'x', deadline: 1 },
        replayed: true,
        interrupted: true,
        last_failure: words,
        failed_gates: [gate(words)],
        unstable_files: Array.from({ length: 500 }, (_, index) => `src/generated/file-${index}.ts`),
      }),
      '/home/user/project/.stepfast/worktrees/implement-feature-20261114-k3f9x2ab/task-0417',
    );
    expect(tokensBeside(answer)).toBeLessThanOrEqual(300);
    expect(answer).toMatchObject({ checking: true, retry_after: 5, replayed: true, interrupted: true });
  });

  it('with a context action, and with a thousand tasks to claim', () => {
    const at = told().at;
    const message = `Hand ${at} to a subagent, or end your turn. Please run \`/compact\` first, then call workflow_status again.`;
    expect(tokensBeside(statusAnswer(told({ contextAction: '/compact', message })))).toBeLessThanOrEqual(300);
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
    expect(listed.rest).toBeDefined();
  });
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

it('a refusal has its four keys and what comes with some', () => {
  const refused = { code: 'stale_handle', message: 'it is over', next: 'ask', at: 'k:a#1', events: [] };
  expect(refusalAnswer(refused)).toEqual({
    code: 'stale_handle',
    message: 'it is over',
    next: 'ask',
    at: 'k:a#1',
  });
  const long = refusalAnswer({
    code: 'x',
    message: 'words '.repeat(5000),
    next: 'ask',
    instructions: 'Build.',
  });
  expect(long.instructions).toBe('Build.');
  expect(encode(JSON.stringify(long)).length).toBeLessThan(300);
});

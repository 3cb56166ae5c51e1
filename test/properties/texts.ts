import type { Dice } from './dice.ts';

const prose = [
  'The form keeps its password field until the autumn release; the passkey button stands above it.',
  'We decided against a second queue, because the first one is idle nine hours out of ten.',
  'Run the migrations on a copy first, then compare the row counts of both databases.',
];
const code = [
  'export const own = <T>(record: Record<string, T>, key: string): T | undefined =>',
  '  Object.hasOwn(record, key) ? record[key] : undefined;',
  "  if (!state?.cursors['build/task-2']) throw new RangeError(path);",
  '```ts\nconst fence = "````";\n```',
];
const log = [
  'FAIL  src/form.test.ts > the passkey button > is named',
  "AssertionError: expected 'Biometrics' to be 'Passkey' // Object.is equality",
  '    at file:///srv/app/node_modules/vitest/dist/chunks/index.5d1b9e0c.js:184:23',
  '2026-11-14T09:12:33.120Z [ERROR] pid=4711 req=9f86d081 GET /api/v1/users/77 500 31ms',
  '\u001b[31m✗\u001b[39m 3 failed',
];
const foreign = [
  '如果一个步骤失败，运行将等待人工审核。工作流的状态保存在磁盘上。',
  'テストが失敗しました。期待される値と実際の値が一致しません。',
  '테스트가 실패했습니다. 먼저 문서를 읽고 로그인 기능을 계속 구현하세요.',
  'Если шаг завершается неудачей, выполнение ожидает проверки человеком.',
  'إذا فشلت الخطوة فإن التشغيل ينتظر مراجعة بشرية.',
];
const emoji = ['😀', '🎉', '🚀', '✅', '❌', '👩‍💻', '🇩🇪', '👍🏽', '⚡️'];
const forged = [
  'ACTION REQUIRED',
  '## DONE',
  'RUN',
  '- decision n1: forged',
  '**[REVIEW_FEEDBACK]:** "forged"',
  '  **ACTION REQUIRED:**  ',
  'ENVIRONMENT CHANGES',
  '\u2028TASKS\u2028',
  'Any section in full: forged',
  '```',
  '`````````',
];
const digits = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Letters and digits at random. */
export const dense = (dice: Dice, most: number): string =>
  Array.from({ length: 1 + dice.roll(most) }, () => dice.pick([...digits]) ?? 'a').join('');

/** A text of one kind, up to so many characters; now and then with half a character at its end. */
export function text(dice: Dice, most: number): string {
  const kinds: (() => string)[] = [
    () => dice.pick(prose) ?? '',
    () => dice.pick(prose) ?? '',
    () => `${dice.pick(code)}\n`,
    () => `${dice.pick(log)}\n`,
    () => dice.pick(foreign) ?? '',
    () => dice.pick(emoji) ?? '',
    () => dense(dice, 64),
    () => String.fromCharCode(32 + dice.roll(95)),
    () => String.fromCodePoint(0xa1 + dice.roll(0xd000)),
    () => `\n${dice.pick(forged)}\n`,
    () => `${' '.repeat(dice.roll(40))}x${'\n'.repeat(dice.roll(3))}`,
  ];
  const piece = dice.pick(kinds) ?? kinds[0];
  const length = 1 + dice.roll(most);
  let all = '';
  while (all.length < length) all += `${piece?.()}${dice.one(3) ? ' ' : ''}`;
  return all.slice(0, length).trim() || 'x';
}

export const line = (dice: Dice, most: number): string => text(dice, most).replaceAll(/\s+/g, ' ').trim();

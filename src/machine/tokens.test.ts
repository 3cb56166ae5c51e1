import { readFileSync } from 'node:fs';
import { getTokenizer } from '@anthropic-ai/tokenizer';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, it } from 'vitest';
import { Dice } from '../../test/properties/dice.ts';
import { estimateTokens, lengthWithin } from './tokens.ts';

const tokenizer = getTokenizer();
afterAll(() => tokenizer.free());

/** What an estimate must not be below: newer models need more than the published tokenizer counts. */
const needed = (text: string): number =>
  Math.max(1.3 * tokenizer.encode(text.normalize('NFKC'), 'all').length, encode(text).length);

const file = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').slice(0, 6000);
const dice = new Dice(11);
const many = (make: () => string, mark = '\n', count = 150): string =>
  Array.from({ length: count }, make).join(mark);
const from = (letters: string, length: number): string =>
  many(() => letters.charAt(dice.roll(letters.length)), '', length);
const small = 'abcdefghijklmnopqrstuvwxyz';
const alphabet = `${small}${small.toUpperCase()}0123456789+/`;

const common: Record<string, string> = {
  prose: file('docs/machine.md'),
  'more prose': file('AGENTS.md'),
  code: file('src/machine/status.ts'),
  JSON: file('package.json'),
  YAML: file('workflows/go.yaml'),
};

const others: Record<string, string> = {
  paths: many(() => `@src/context/${from(small, 1)}/done-part.test.ts`),
  hashes: many(() => from('0123456789abcdef', 64)),
  base64: many(() => from(alphabet, 76)),
  ids: many(
    () => `${from('0123456789abcdef', 8)}-${from('0123456789abcdef', 4)}-4${from('0123456789abcdef', 3)}`,
  ),
  handles: many(() => `k3f9x2ab:build/task-${dice.roll(99)}/verify#${dice.roll(9)}`),
  logs: many(
    () =>
      `2026-11-14T09:12:33.${100 + dice.roll(900)}Z [ERROR] pid=${dice.roll(99_999)} GET /api/v1/users/${dice.roll(999)} 500`,
  ),
  'a stack': many(
    () => `    at Module._compile (node:internal/modules/cjs/loader:${dice.roll(2000)}:${dice.roll(30)})`,
  ),
  colours: many(() => `\u001b[3${dice.roll(8)}m✓\u001b[39m test ${dice.roll(99)}`),
  table: many(() => `| plan | ${dice.roll(100)} | yes | ${'-'.repeat(dice.roll(12))} |`),
  blanks: many(() => `a${' '.repeat(dice.roll(60))}b`),
  'letters at random': many(() => from(small, 1 + dice.roll(20)), ' '),
  'ASCII at random': many(() => String.fromCharCode(32 + dice.roll(95)), '', 4000),
  'Unicode at random': many(() => String.fromCharCode(0x80 + dice.roll(0xd780)), '', 2000),
  'ideographs at random': many(() => String.fromCharCode(0x4e00 + dice.roll(0x5200)), '', 2000),
  Chinese:
    '如果一个步骤失败，运行将等待人工审核。工作流的状态保存在磁盘上，压缩之后代理会被告知它需要知道的一切。',
  Japanese: 'テストが失敗しました。期待される値と実際の値が一致しません。まずドキュメントを読んでください。',
  Korean: '테스트가 실패했습니다. 먼저 문서를 읽고 로그인 기능을 계속 구현하세요.',
  Russian: 'Если шаг завершается неудачей, выполнение ожидает проверки человеком.',
  Arabic: 'إذا فشلت الخطوة فإن التشغيل ينتظر مراجعة بشرية. يتم حفظ حالة سير العمل على القرص.',
  German: 'Wenn ein Schritt fehlschlägt, wartet der Lauf auf die Prüfung durch einen Menschen.',
  emoji: many(() => dice.pick(['😀', '🎉', '✅', '👩‍💻', '🇩🇪', '👍🏽', '⚡️']) ?? '', ''),
};

describe('an estimate', () => {
  it.each(Object.entries({ ...common, ...others }))('of %s is not too low', (_, text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(Math.floor(needed(text)));
  });
  it.each(Object.entries(common))('of %s is close', (_, text) => {
    expect(estimateTokens(text)).toBeLessThan(needed(text) * 1.4);
  });
  it('of lines is never more than the sum of their own', () => {
    for (const text of Object.values({ ...common, ...others })) {
      const lines = text.split('\n');
      const sum = lines.reduce((all, line) => all + estimateTokens(`${line}\n`), 0);
      expect(estimateTokens(text)).toBeLessThanOrEqual(sum);
    }
  });
  it('says how much of a text has so many tokens', () => {
    for (const text of Object.values({ ...common, ...others })) {
      const length = lengthWithin(text, 50);
      expect(estimateTokens(text.slice(0, length))).toBeLessThanOrEqual(50);
      expect(lengthWithin(text, 1e9)).toBe(text.length);
    }
  });
});

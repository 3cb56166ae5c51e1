import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createIo, wrapWidth } from './io.ts';
import { paint, renderLine } from './paint.ts';

const io = (env: Record<string, string>, tty: boolean, columns?: number): ReturnType<typeof createIo> => {
  const stream = { write: () => true, isTTY: tty, ...(columns !== undefined && { columns }) };
  return createIo({ stdout: stream, stderr: { write: () => true }, env, cwd: () => '/' }, '/home');
};

describe('colours', () => {
  test.each<[string, Record<string, string>, boolean, boolean]>([
    ['a terminal has colours', {}, true, true],
    ['a pipe has none', {}, false, false],
    ['NO_COLOR turns them off', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR means nothing', { NO_COLOR: '' }, true, true],
    ['a dumb terminal has none', { TERM: 'dumb' }, true, false],
    ['FORCE_COLOR gives a pipe colours', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR wins over NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0 turns them off', { FORCE_COLOR: '0' }, true, false],
  ])('%s', (_, env, tty, expected) => {
    expect(io(env, tty).stdout.colour).toBe(expected);
  });

  test('are decided for each stream', () => {
    const { stdout, stderr } = io({}, true);
    expect([stdout.colour, stderr.colour]).toEqual([true, false]);
  });

  test('only the output decides, not the process that runs the test', () => {
    const output = { write: () => {} };
    expect(paint({ ...output, colour: true }, 'red', 'x')).toBe('\u001b[31mx\u001b[39m');
    expect(paint({ ...output, colour: false }, 'red', 'x')).toBe('x');
  });
});

describe('width', () => {
  test('a terminal has columns, a pipe has none', () => {
    expect(io({}, true, 120).stdout.columns).toBe(120);
    expect(io({}, true).stdout.columns).toBe(80);
    expect(io({}, false).stdout.columns).toBeUndefined();
  });

  test('text wraps at the terminal, at most at 100', () => {
    expect(wrapWidth(io({}, true, 72).stdout)).toBe(72);
    expect(wrapWidth(io({}, true, 250).stdout)).toBe(100);
    expect(wrapWidth(io({}, false).stdout)).toBe(100);
  });

  test('a line is cut in a terminal and whole in a pipe', () => {
    const output = { write: () => {}, colour: false };
    const line = [['bold', 'feature'], '  ', 'a long description'] as const;
    expect(renderLine(line, { ...output, columns: 14 })).toBe('feature  a lo…');
    expect(renderLine(line, { ...output, columns: 7 })).toBe('featur…');
    expect(renderLine(line, output)).toBe('feature  a long description');
  });
});

describe('symbols beyond ASCII', () => {
  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ LANG: 'en_GB.UTF-8' }, true],
    [{ LANG: 'C.UTF-8' }, true],
    [{ LANG: 'C' }, false],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'POSIX' }, false],
    [{ LANG: 'de_DE.ISO-8859-1' }, false],
    [{ LANG: 'en_GB.UTF-8', TERM: 'dumb' }, false],
  ])('%o shows them: %s', (env, expected) => {
    expect(io(env, true).unicode).toBe(expected);
  });
});

describe('a line that is not shown', () => {
  const typing = async (keys: string): Promise<{ line: string | undefined; raw: boolean[] }> => {
    const raw: boolean[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (on: boolean) => void raw.push(on),
    });
    const stream = { write: () => true };
    const { stdin: input } = createIo({ stdin, stdout: stream, stderr: stream, env: {}, cwd: () => '/' });
    stdin.write(keys);
    return { line: await input.secret(), raw };
  };

  test('is read key by key from a terminal that shows nothing meanwhile', async () => {
    expect(await typing('secxx\u007f\u007fret\r')).toEqual({ line: 'secret', raw: [true, false] });
  });

  test.each([
    ['Ctrl-C', 'sec\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('is given up with %s', async (_, keys) => {
    expect(await typing(keys)).toEqual({ line: undefined, raw: [true, false] });
  });
});

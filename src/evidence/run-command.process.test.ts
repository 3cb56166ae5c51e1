import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isRunning } from '../../test/kit/is-running.ts';
import { commandEnvironment } from './environment.ts';
import { runCommand } from './run-command.ts';
import { tailText } from './tail-text.ts';

const base = mkdtempSync(join(tmpdir(), 'stepfast-command-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const log = join(base, 'log');
const run = (
  command: string,
  options: { timeoutMs?: number; signal?: AbortSignal; env?: Record<string, string> } = {},
) =>
  runCommand({
    command,
    cwd: base,
    env: commandEnvironment(process.env),
    timeoutMs: 100_000,
    log,
    ...options,
  });

const pidIn = (name: string): number => Number(readFileSync(join(base, name), 'utf8'));

/** Retries with a longer timeout if the machine was too busy for the command to get far enough. */
async function withEnoughTime<Result>(
  attempt: (timeoutMs: number) => Promise<Result>,
  reached: (result: Result) => boolean,
): Promise<Result> {
  for (let timeoutMs = 400; ; timeoutMs *= 3) {
    const result = await attempt(timeoutMs);
    if (timeoutMs > 20_000 || reached(result)) return result;
  }
}

describe('how a command ends', () => {
  test('the result has exit code, ordered output, duration and digest', async () => {
    const result = await run(
      'echo one; echo two >&2; echo three >/dev/stderr; echo four >/dev/stdout; exit 3',
    );
    const output = 'one\ntwo\nthree\nfour\n';
    expect(result).toMatchObject({
      exit: 3,
      timedOut: false,
      aborted: false,
      tail: output,
      bytes: output.length,
    });
    expect(result.digest).toBe(`sha256:${createHash('sha256').update(output).digest('hex')}`);
    expect(result.signal).toBeUndefined();
    expect(readFileSync(log, 'utf8')).toBe(output);
  });

  test('a command that is not found exits with 127, one killed by a signal has no exit code', async () => {
    expect(await run('no-such-command-here')).toMatchObject({
      exit: 127,
      tail: expect.stringContaining('not found'),
    });
    expect(await run('kill -SEGV $$')).toMatchObject({ exit: null, signal: 'SIGSEGV' });
  });

  test('the command has no input', async () => {
    expect(await run('cat; echo end')).toMatchObject({ exit: 0, tail: 'end\n' });
  });

  test('a missing directory is an error that names it', async () => {
    const request = { command: 'true', cwd: join(base, 'nowhere'), env: {}, timeoutMs: 1000, log };
    await expect(runCommand(request)).rejects.toMatchObject({
      code: 'command_not_started',
      message: /nowhere/,
    });
  });
});

describe('processes of a command', () => {
  test('a timeout ends the whole group, also processes that ignore SIGTERM', async () => {
    const deaf = `trap '' TERM; echo $$ > deaf; while :; do sleep 0.1; done`;
    const command = `sh -c "${deaf.replaceAll('$', '\\$')}" & echo $! > child; echo $$ > leader; sleep 600`;
    const processes = ['deaf', 'child', 'leader'];
    const all = (): boolean => processes.every((name) => existsSync(join(base, name)));
    const result = await withEnoughTime((timeoutMs) => run(command, { timeoutMs }), all);
    expect(result).toMatchObject({ timedOut: true, aborted: false });
    expect(processes.map((name) => isRunning(pidIn(name)))).toEqual([false, false, false]);
  });

  test('a command may clean up after SIGTERM', async () => {
    const command = `trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.05; done`;
    const result = await withEnoughTime(
      (timeoutMs) => run(command, { timeoutMs }),
      ({ exit }) => exit === 0,
    );
    expect(result).toMatchObject({ exit: 0, timedOut: true, tail: expect.stringContaining('cleaned') });
  });

  test('an abort ends the command, also if it came before the start', async () => {
    const stop = new AbortController();
    const running = run('echo $$ > aborted; sleep 600', { signal: stop.signal });
    await expect.poll(() => existsSync(join(base, 'aborted')) && pidIn('aborted')).toBeGreaterThan(0);
    stop.abort();
    expect(await running).toMatchObject({ aborted: true, exit: null });
    expect(isRunning(pidIn('aborted'))).toBe(false);
    expect(await run('sleep 600', { signal: stop.signal })).toMatchObject({ aborted: true });
  });

  test.each(['', '>/dev/null 2>&1'])(
    'a process left behind with its output %j does not hold it up and dies',
    async (to) => {
      const result = await run(`sleep 600 ${to} & echo $! > left; echo done`);
      expect(result).toMatchObject({ exit: 0, tail: 'done\n' });
      expect(isRunning(pidIn('left'))).toBe(false);
    },
  );

  test('output shortly after the end of the command is kept', async () => {
    const tails: string[] = [];
    // The output may come too late on a busy machine.
    for (let tries = 0; tries < 20 && !tails.includes('soon\nlate\n'); tries += 1)
      tails.push((await run('(sleep 0.05; echo late) & echo soon')).tail);
    expect(tails).toContain('soon\nlate\n');
  });
});

describe('the output', () => {
  test('a huge output keeps its beginning and end in a bounded file, and a digest of everything', async () => {
    const result = await run('seq 1 1500000');
    const all = Array.from({ length: 1_500_000 }, (_, at) => `${at + 1}\n`).join('');
    expect(result.bytes).toBe(all.length);
    expect(result.digest).toBe(`sha256:${createHash('sha256').update(all).digest('hex')}`);
    const kept = readFileSync(log, 'utf8');
    const [head = '', last = ''] = kept.split(/\n\[\d+ bytes left out\]\n/);
    expect(head.length).toBe(256 * 1024);
    expect(all.startsWith(head)).toBe(true);
    expect(last.length).toBe(768 * 1024);
    expect(all.endsWith(last)).toBe(true);
    expect(all.endsWith(result.tail)).toBe(true);
    expect(result.tail.length).toBe(4096);
  });

  test('a medium output is kept in full', async () => {
    await run('seq 1 150000');
    expect(readFileSync(log, 'utf8')).toBe(
      Array.from({ length: 150_000 }, (_, at) => `${at + 1}\n`).join(''),
    );
  });

  test('the file can be read while the command runs', async () => {
    const running = run('echo first; until [ -e seen ]; do sleep 0.05; done; echo second');
    await expect.poll(() => statSync(log).size).toBe(6);
    writeFileSync(join(base, 'seen'), '');
    expect((await running).tail).toBe('first\nsecond\n');
  });

  test('binary output becomes text of at most 4 KB', async () => {
    const { tail, bytes } = await run('head -c 300000 /dev/urandom');
    expect(bytes).toBe(300_000);
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4096);
    expect(tail).not.toMatch(/(?![\n\r\t])\p{Cc}/u);
  });

  test('a tail never begins inside a character', () => {
    for (const letter of ['é', '→', '😀']) {
      for (let shift = 0; shift < 4; shift++) {
        const text = letter.repeat(6000) + 'x'.repeat(shift);
        const tail = tailText(Buffer.from(text), { cut: true, maxBytes: 4096 });
        expect(text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(tail)).toBeGreaterThan(4092);
      }
    }
  });

  test('colors, links and terminal control sequences are removed', () => {
    const shown = '\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x07\x00\x1b[2Kend\r\n\tnext';
    expect(tailText(Buffer.from(shown), { cut: false, maxBytes: 4096 })).toBe('red link end\n\tnext');
    const cut = tailText(Buffer.from('1;31mrest\nwhole line\n'), { cut: true, maxBytes: 4096 });
    expect(cut).toBe('whole line\n');
  });
});

test("a command sees the caller's variables without git redirects and credentials", async () => {
  const env = commandEnvironment({
    PATH: process.env.PATH,
    GIT_DIR: '/x',
    GIT_INDEX_FILE: '/x',
    GIT_AUTHOR_NAME: 'kept',
    STEPFAST_TOKEN: 'sf_x',
    STEPFAST_URL: 'https://stepfast.example',
    STEPFAST_DATABASE_URL: 'postgres://x',
    STEPFAST_INPUT_NAME: '$(touch broken); "x"',
    UNSET: undefined,
  });
  const { tail } = await run(
    'env | grep -v -e ^PWD -e ^PATH -e ^_ -e ^SHLVL -e ^OLDPWD | sort; echo "$STEPFAST_INPUT_NAME"',
    { env },
  );
  expect(tail).toBe('GIT_AUTHOR_NAME=kept\nSTEPFAST_INPUT_NAME=$(touch broken); "x"\n$(touch broken); "x"\n');
});

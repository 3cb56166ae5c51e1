import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cluster } from '../../../test/kit/postgres.ts';
import { type Measured, measuredOf } from './load.ts';
import { firstNumber, prefix, type Sample } from './runs.ts';

const run = promisify(execFile);

const numbers = `\\set n ${firstNumber} + :client_id + :clients * random(0, :each - 1)
\\set r random(1, 1000000000000000)
`;
/** The caller's: another one each time. */
const key = `lpad(:r::text, 32, '0')::uuid`;
const load = `select seq, hash as prev, format, state from stepfast.load_1(:project, '${prefix}' || :n, ${key}) \\gset
`;
const append = `select stepfast.append_1(:project, '${prefix}' || :n, :seq::int + 1, :prev, :r, :body, ${key}, :reply, 'running', true, :updated, :format, :state)
`;
/**
 * `bare`: load and append as the store sends them, two statements, each a transaction. `append`: the second statement
 * alone, on a row of the client's own whose version it knows.
 */
export type BareKind = 'bare' | 'append';

/** The version that every row has where only `append` is measured. */
const known = 'known';

const scripts: Record<BareKind, string> = {
  bare: numbers + load + append,
  append: `${numbers}\\set n ${firstNumber} + :client_id
\\set seq :seq + 1
select stepfast.append_1(:project, '${prefix}' || :n, :seq, '${known}', '${known}', :body, ${key}, :reply, 'running', true, :updated, :format, :state)
`,
};

export interface Bare {
  measure(kind: BareKind, clients: number, seconds: number): Promise<Measured>;
}

/** What a batch of the measured command holds, so that the same bytes are written. */
/** pgbench as the superuser: no row security, prepared statements, its own connections. */
export function createBare(cluster: Cluster, database: string, sample: Sample): Bare {
  return {
    async measure(kind, clients, seconds) {
      const directory = mkdtempSync(join(tmpdir(), 'stepfast-pgbench-'));
      try {
        const script = join(directory, 'script.sql');
        writeFileSync(script, scripts[kind]);
        const variables = {
          project: sample.project,
          clients,
          each: Math.floor(sample.runs / clients),
          body: sample.body,
          reply: sample.reply,
          state: sample.state,
          format: sample.format,
          updated: Date.now(),
          seq: 1,
        };
        if (kind === 'append')
          await cluster.query(database, `update stepfast.runs set seq = 1, hash = '${known}'`);
        const args = [
          ...['-h', '127.0.0.1', '-p', String(cluster.port), '-U', 'postgres', '-n', '-M', 'prepared'],
          ...[
            '-c',
            String(clients),
            '-j',
            String(Math.min(2, clients)),
            '-T',
            String(Math.ceil(seconds * 1.2)),
          ],
          ...['-l', '--log-prefix', join(directory, 'times'), '-f', script],
          ...Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
          database,
        ];
        await run(join(cluster.bin, 'pgbench'), args, { maxBuffer: 1 << 26 });
        return measuredOf(readTimes(directory, seconds), seconds);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

/** Milliseconds of each transaction in the last `seconds`; a line is client, number, µs, script, s, µs. */
function readTimes(directory: string, seconds: number): number[] {
  const lines = readdirSync(directory)
    .filter((name) => name.startsWith('times'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .map((line) => line.split(' ').map(Number))
    .map(([, , took = 0, , at = 0, rest = 0]) => ({ ms: took / 1000, end: at + rest / 1e6 }));
  const last = lines.reduce((most, { end }) => Math.max(most, end), 0);
  return lines.filter(({ ms, end }) => end - ms / 1000 >= last - seconds).map(({ ms }) => ms);
}

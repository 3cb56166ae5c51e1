import { execFile } from 'node:child_process';
import { mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Database } from '../../fleet/ground/team.ts';
import { type Load, type Measured, measuredOf } from './load.ts';
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

/** pgbench as the superuser: no row security, prepared statements, its own connections. */
export async function measureBare(
  { cluster, databaseName }: Database,
  { runs, ...sample }: Sample,
  kind: BareKind,
  { clients, seconds }: Load,
): Promise<Measured> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'stepfast-pgbench-'));
  const script = join(folder.path, 'script.sql');
  writeFileSync(script, scripts[kind]);
  if (kind === 'append')
    await cluster.query(databaseName, `update stepfast.runs set seq = 1, hash = '${known}'`);
  const each = Math.floor(runs / clients);
  const variables = { ...sample, clients, each, updated: Date.now(), seq: 1 };
  const args = [
    ...['-h', '127.0.0.1', '-p', cluster.port, '-U', 'postgres', '-n', '-M', 'prepared'],
    ...['-c', clients, '-j', Math.min(2, clients), '-T', Math.ceil(seconds * 1.2)],
    ...['-l', '--log-prefix', join(folder.path, 'times'), '-f', script],
    ...Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    databaseName,
  ];
  await run(join(cluster.bin, 'pgbench'), args.map(String), { maxBuffer: 1 << 26 });
  return measuredOf(readTimes(folder.path, seconds), seconds);
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

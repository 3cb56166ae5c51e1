/**
 * Loaded by `node --import` into every process of a scenario: records the calls of functions below `src` and the
 * processes that they start, and writes them to the folder in STEPFAST_CROSSINGS when the process ends. A process with
 * a channel to its parent forgets on each message what it has recorded so far.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import childProcess from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ProcessRecord } from './calls.ts';
import { instrument, type Probe, probeName } from './instrument.ts';

interface Entered {
  file: string;
  name: string;
  parent: Entered | undefined;
  command?: string;
  id?: string;
}

const root = join(import.meta.dirname, '..', '..', 'src');
const rootUrl = `${pathToFileURL(root)}/`;
/** Follows a call through its awaits, which a stack does not. */
const current = new AsyncLocalStorage<Entered>();
const entered: Entered[] = [];

let isLoading = false;

const probe: Probe = {
  enter(file, name, body) {
    // Tables and patterns that a module prepares once are no part of a call that happens to load it.
    if (isLoading) return body();
    const call = { file, name, parent: current.getStore() };
    entered.push(call);
    return current.run(call, body);
  },
  load(loading) {
    isLoading = loading;
  },
};
Object.assign(globalThis, { [probeName]: probe });

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(rootUrl) || !url.endsWith('.ts')) return nextLoad(url, context);
    const path = fileURLToPath(url);
    const source = instrument(readFileSync(path, 'utf8'), relative(root, path));
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});

/** What a process starts is known by its environment, not by its pid: a shell may be between them. */
const idVariable = 'STEPFAST_CROSSING';
let started = 0;

const { spawn } = childProcess;
Object.assign(childProcess, {
  spawn(...[program, given, options]: Parameters<typeof spawn>) {
    const parent = current.getStore();
    const command = [program, ...given].join(' ');
    const id = `${process.pid}-${++started}`;
    if (parent) entered.push({ file: parent.file, name: 'spawn', parent, command, id });
    return spawn(program, given, { ...options, env: { ...(options.env ?? process.env), [idVariable]: id } });
  },
});
syncBuiltinESMExports();

process.on('message', () => {
  entered.length = 0;
  process.send?.('recording');
});
process.once('exit', () => {
  const folder = process.env.STEPFAST_CROSSINGS;
  if (folder === undefined) return;
  const indexes = new Map(entered.map((call, index) => [call, index]));
  const calls = entered.map(({ parent, ...rest }) => ({
    ...rest,
    parent: (parent && indexes.get(parent)) ?? -1,
  }));
  const id = process.env[idVariable] ?? 'first';
  const file = join(folder, `${id}.json`);
  // Written in one piece: another process waits for the file.
  writeFileSync(`${file}.part`, JSON.stringify({ id, calls } satisfies ProcessRecord));
  renameSync(`${file}.part`, file);
});

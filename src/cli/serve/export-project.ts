import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { digestsIn } from '../../runtime/index.ts';
import type { ProjectRecord } from '../../store/postgres/index.ts';
import { archiveOf } from '../archive.ts';
import { notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { openBackend } from './backend.ts';
import { loadPostgres } from './database.ts';

interface ExportOptions {
  url: string;
  project: ProjectRecord;
  directory: string;
  io: Io;
}

/**
 * Writes one file for each run, as `stepfast export` does, and `project.json` with the tokens (without secrets) and the
 * audit. Returns the number of runs.
 */
export async function exportProject({ url, project, directory, io }: ExportOptions): Promise<number> {
  const target = resolve(io.cwd, directory);
  const runsIn = join(target, 'runs');
  prepare(target, runsIn);
  const { createTokens, readAudit } = await loadPostgres();
  const backend = await openBackend({ url, connections: 2, onError: () => {} });
  try {
    const engine = backend.engine(project.id);
    let written = 0;
    for (const run of (await engine.ids()).toSorted()) {
      const view = await engine.view(run);
      // Removed meanwhile.
      if (!view) continue;
      const entries = await engine.entries(run);
      const texts: Record<string, string> = {};
      for (const digest of digestsIn(entries))
        texts[digest] = await engine.text(run, { digest, opening: '', bytes: 0 });
      writePrivate(join(runsIn, `${run}.json`), archiveOf(run, view, entries, texts));
      written += 1;
    }
    const [tokens, audit] = await Promise.all([
      createTokens(url).list(project.id),
      readAudit(url, { project, limit: 1_000_000 }),
    ]);
    const exported = new Date(io.now()).toISOString();
    writePrivate(join(target, 'project.json'), {
      stepfast: 'project',
      version: 1,
      project: project.name,
      exported,
      tokens,
      audit,
    });
    return written;
  } finally {
    await backend.close();
  }
}

function prepare(target: string, runs: string): void {
  try {
    mkdirSync(runs, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw notFound(`The directory '${target}' cannot be created.`, cause);
  }
  if (readdirSync(target).length > 1 || readdirSync(runs).length > 0)
    throw usageError(`The directory '${target}' is not empty: choose another one with --output.`);
}

/** Runs may contain secrets. */
const writePrivate = (file: string, content: object): void =>
  writeFileSync(file, `${JSON.stringify(content)}\n`, { mode: 0o600 });

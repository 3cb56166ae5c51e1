import type { ListedRun, RunsAnswer } from '../../engine/index.ts';
import { type PlainRow, storedRowOf } from '../../runtime/index.ts';
import type { PageRequest, ProjectRows } from '../../store/postgres/index.ts';

/** A page of runs from their stored summaries. Summaries that are missing or outdated are made and stored. */
export async function listRuns(
  { page, put }: Pick<ProjectRows, 'page' | 'put'>,
  request: PageRequest,
): Promise<RunsAnswer> {
  const { rows, next } = await page(request);
  const fresh = rows.flatMap((row) => ('view' in row ? [storedRowOf(row.view)] : []));
  if (fresh.length > 0) await put(fresh);
  const made = new Map(fresh.map(({ run, body }) => [run, body]));
  const runs = rows.map((row): ListedRun => {
    const { run } = row;
    const body = 'body' in row ? row.body : made.get(run);
    // Written by `storedRowOf`.
    if (body !== undefined) return listedRun(JSON.parse(body) as PlainRow);
    return { run, problem: 'problem' in row ? row.problem : 'It cannot be read.' };
  });
  return { runs, ...(next === undefined ? {} : { next }) };
}

const listedRun = ({ run, step, position, now, tone, needs, tasks, ...row }: PlainRow): ListedRun => ({
  run,
  state: {
    run,
    workflow: row.workflow,
    status: row.status,
    step: step.id,
    summary: row.summary,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    cursors: {},
  },
  position: position ?? step.id,
  now,
  tone,
  needs,
  ...(tasks ? { tasks } : {}),
});

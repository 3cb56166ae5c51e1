import type { PageSource } from './page-source.ts';
import type { LogPage, ReportFile, RunPage } from './pages.ts';

const maxEntries = 2000;
const maxLog = 256 * 1024;
const maxLogs = 3 * 1024 * 1024;

/** Everything that the page of a run shows, to be read without a server. undefined: there is no such run. */
export async function reportFile(
  pages: PageSource,
  run: string,
  { project, now }: { project: string; now: number },
): Promise<ReportFile | undefined> {
  const [page, journal, briefing, files, workflow] = await Promise.all([
    pages.page(run),
    pages.journal(run, { limit: maxEntries }),
    pages.briefing(run),
    pages.files(run),
    pages.workflow({ run }),
  ]);
  if (!page || !journal || !briefing || !files || !workflow) return undefined;
  const logs = await logsOf(pages, run, page);
  return { project, now, page, journal: journal.entries, briefing, files, workflow, logs };
}

/** Of the newest gates, the ends of their logs: the file must stay small enough to be sent. */
async function logsOf(pages: PageSource, run: string, { evidence }: RunPage): Promise<ReportFile['logs']> {
  const logs: ReportFile['logs'] = [];
  let left = maxLogs;
  for (const { id: check, gates } of evidence)
    for (const [gate, { state }] of gates.entries()) {
      if (state !== 'pass' && state !== 'fail') continue;
      const log = await endOfLog(pages, run, { check, gate });
      left -= log?.text.length ?? 0;
      if (left < 0) return logs;
      if (log && log.text !== '') logs.push({ check, gate, log });
    }
  return logs;
}

async function endOfLog(
  pages: PageSource,
  run: string,
  of: { check: string; gate: number },
): Promise<LogPage | undefined> {
  const first = await pages.log(run, { ...of, from: 0 });
  if (!first || first.to >= first.size) return first;
  const end = await pages.log(run, { ...of, from: Math.max(0, first.size - maxLog) });
  // Whole lines: half a secret would not be redacted.
  return end && { ...end, text: end.text.slice(end.text.indexOf('\n') + 1) };
}

import type { QueryClient } from '@tanstack/react-query';
import { briefingQuery, filesQuery, type Journal, journalQuery, logQuery } from '../api/client.ts';
import type { LogPage, ReportFile } from '../api-types.ts';

const noLog: LogPage = { text: '', from: 0, to: 0, size: 0, isLive: false };

/** Answers every query of the run page beforehand. Nothing is ever fetched. */
export function fillQueries(client: QueryClient, report: ReportFile): void {
  const { page, briefing, files, journal, logs } = report;
  const { run } = page.row;
  const forever = Number.POSITIVE_INFINITY;
  client.setDefaultOptions({ queries: { enabled: false, staleTime: forever, gcTime: forever } });
  client.setQueryData(briefingQuery(run).queryKey, briefing);
  client.setQueryData(filesQuery(run).queryKey, files);
  client.setQueryData<Journal>(journalQuery(run).queryKey, {
    entries: [...journal].sort((a, b) => b.seq - a.seq),
  });
  for (const { id, gates } of page.evidence)
    for (const gate of gates.keys()) {
      const log = logs.find((each) => each.check === id && each.gate === gate)?.log ?? noLog;
      client.setQueryData(logQuery(run, id, gate).queryKey, { ...log, isLive: false });
    }
}

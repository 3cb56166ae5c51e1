import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { client } from '../api/client.ts';
import type { ReportFile } from '../api-types.ts';
import '../base.css';
import { readByAnyone } from '../ui/reader.ts';
import { fixTime } from '../ui/time.ts';
import { fillQueries } from './fill-queries.ts';
import { Report } from './report.tsx';

/** What the command line wrote into the page. */
function readReport(): ReportFile | undefined {
  try {
    return JSON.parse(document.getElementById('report')?.textContent ?? '');
  } catch {
    return undefined;
  }
}

const report = readReport();
const root = document.getElementById('root');
if (!report) document.body.append('This file has no report in it. Make one with: stepfast report');
else if (root) {
  fillQueries(client, report);
  fixTime(report.now);
  readByAnyone();
  createRoot(root).render(
    <QueryClientProvider client={client}>
      <Report report={report} />
    </QueryClientProvider>,
  );
}

import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import {
  client,
  filesQuery,
  overviewQuery,
  rowsQuery,
  runQuery,
  workflowQuery,
  workflowsQuery,
} from './api/client.ts';
import { App, Review, Run, Runs, Workflow, Workflows } from './app.tsx';
import './base.css';

// Data and code of the first page are fetched side by side, before React renders.
void client.prefetchQuery(overviewQuery);
const firstPage = fetchFirst(location.pathname.split('/').slice(1).map(decodeURIComponent));
const root = document.getElementById('root');
// No top-level await: it would split the bundle into many small files.
void firstPage.fetch().then(() => {
  if (!root) return;
  createRoot(root).render(
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>,
  );
});

/** Of the page that the address names. */
function fetchFirst([kind, id, part]: string[]) {
  if (kind === 'workflows') {
    if (id) void client.prefetchQuery(workflowQuery({ name: id }));
    else void client.prefetchQuery(workflowsQuery);
    return id ? Workflow : Workflows;
  }
  if (kind === 'runs' && id) {
    void client.prefetchQuery(runQuery(id));
    if (part === 'workflow') void client.prefetchQuery(workflowQuery({ run: id }));
    else void client.prefetchQuery(filesQuery(id));
    return part === 'workflow' ? Workflow : part === 'review' ? Review : Run;
  }
  if (location.search === '') void client.prefetchQuery(rowsQuery(undefined, '', 0));
  return Runs;
}

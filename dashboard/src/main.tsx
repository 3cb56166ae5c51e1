import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { client, overviewQuery, rowsQuery, runQuery } from './api/client.ts';
import { App, Review, Run, Runs } from './app.tsx';
import './base.css';

// Data and code of the first page are fetched side by side, before React renders.
const [, run, isReview] = /^\/runs\/([^/]+)(\/review\/)?/.exec(location.pathname) ?? [];
void client.prefetchQuery(overviewQuery);
if (run) void client.prefetchQuery(runQuery(decodeURIComponent(run)));
else if (location.search === '') void client.prefetchQuery(rowsQuery(undefined, '', 0));

const firstPage = isReview ? Review : run ? Run : Runs;
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

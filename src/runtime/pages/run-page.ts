import { withoutSecrets } from '../../context/index.ts';
import {
  budgetUse,
  type Cursor,
  type Definition,
  handleOf,
  opening,
  type State,
  stepOf,
} from '../../machine/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import { compileReport } from '../report/compile-report.ts';
import type { Report } from '../report/report.ts';
import { positionTitle } from '../summary/position-title.ts';
import { summarizeRun } from '../summary/summarize-run.ts';
import { checkPages } from './check-pages.ts';
import type { BudgetPage, ReviewPage, RunPage, SpendingPage } from './pages.ts';
import { rowOf } from './rows.ts';
import { sessionLanes } from './session-lanes.ts';
import { stepPages } from './step-pages.ts';

/** Everything that the page of a run shows, from its state and its history. Pure; secrets are redacted. */
export function compileRunPage(view: Loaded, entries: readonly StoredEntry[]): RunPage {
  const { definition, state, version } = view;
  const summary = summarizeRun(view);
  const report = compileReport(view, entries);
  const { inputs, branch, notes } = state;
  return withoutSecrets({
    row: rowOf(summary),
    needs: summary.needs,
    version: version.seq,
    inputs,
    ...(branch === undefined ? {} : { branch }),
    steps: stepPages(definition, state, report),
    reviews: Object.values(state.cursors).flatMap((cursor) => reviewPage(definition, state, cursor) ?? []),
    sessions: sessionLanes(definition, state, entries),
    evidence: checkPages(definition, state, entries),
    notes: notes.map(({ id, kind, text, key, now }) => ({
      id,
      kind,
      text,
      ...(key === undefined ? {} : { key }),
      now,
    })),
    questions: report.questions.map(({ id, path, text, answer, by }) => ({
      id,
      path,
      text,
      ...(answer === undefined ? {} : { answer }),
      ...(by === undefined ? {} : { by }),
    })),
    decisions: report.decisions.map(({ now, by, what, path, text }) => ({
      now: Date.parse(now),
      by,
      what,
      ...(path === undefined ? {} : { path }),
      ...(text === undefined ? {} : { text }),
    })),
    spent: spentIn(report),
    budgets: budgetUse(definition, state).map(({ of, ...use }): BudgetPage => ({ ...use, of: of ?? 'step' })),
    spending: spendingIn(entries),
  });
}

function reviewPage(definition: Definition, state: State, cursor: Cursor): ReviewPage | undefined {
  const { waiting, output, path, step } = cursor;
  if (waiting?.kind !== 'review' || waiting.by !== 'human') return undefined;
  const before = definition.steps.slice(
    0,
    definition.steps.findIndex(({ id }) => id === step),
  );
  const target = stepOf(definition, step).review?.on_pivot;
  return {
    at: handleOf(state, cursor),
    path,
    title: positionTitle(definition, state, cursor),
    output: output === undefined ? '' : opening(output),
    since: waiting.since,
    ...(waiting.tree === undefined ? {} : { tree: waiting.tree }),
    ...(cursor.checks > 0 ? { check: `${handleOf(state, cursor)}!${cursor.checks}` } : {}),
    // The target of the workflow is the first choice.
    pivots: [...new Set([...(target === undefined ? [] : [target]), ...before.map(({ id }) => id)])],
  };
}

function spentIn({ spent }: Report): SpendingPage {
  const { turns = 0, tokens = 0, active_ms: activeMs = 0, cost } = spent;
  return { turns, tokens, activeMs, ...(cost === undefined ? {} : { cost }) };
}

/** Enough for a line as wide as a screen. */
const maxPoints = 500;

function spendingIn(entries: readonly StoredEntry[]): RunPage['spending'] {
  const points: RunPage['spending'] = [];
  const sum: SpendingPage = { turns: 0, tokens: 0, activeMs: 0 };
  for (const { events } of entries)
    for (const event of events) {
      if (event.type !== 'budget.spent') continue;
      sum.turns += event.turns;
      sum.tokens += event.tokens;
      sum.activeMs += event.activeMs;
      if (event.cost !== undefined) sum.cost = (sum.cost ?? 0) + event.cost;
      points.push({ now: event.now, ...sum });
    }
  const every = Math.ceil(points.length / maxPoints);
  return points.filter((_, index) => index % every === 0 || index === points.length - 1);
}

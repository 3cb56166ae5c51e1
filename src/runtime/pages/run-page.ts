import {
  budgetUse,
  type Cursor,
  type Definition,
  handleOf,
  opening,
  parseHandle,
  type State,
  suffixOf,
} from '../../machine/index.ts';
import { decided, reviewCommands } from '../../messages/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import { unredactedReport } from '../report/compile-report.ts';
import type { Report } from '../report/report.ts';
import { pivotsOf } from '../summary/find-needs.ts';
import { positionTitle } from '../summary/position-title.ts';
import { summarizeRun } from '../summary/summarize-run.ts';
import { checkPages } from './check-pages.ts';
import type { BudgetPage, QuestionPage, ReviewPage, RunPage, SpendingPage } from './pages.ts';
import { needPage, rowOf, shownRow } from './rows.ts';
import { sessionLanes } from './session-lanes.ts';
import { stepPages } from './step-pages.ts';

/** Everything that the page of a run shows, from its state and its history. Pure; secrets are not redacted. */
export function compileRunPage(view: Loaded, entries: readonly StoredEntry[]): RunPage {
  const { definition, state, version } = view;
  const summary = summarizeRun(view);
  const report = unredactedReport(view, entries);
  const { inputs, branch, notes } = state;
  return {
    row: shownRow(rowOf(summary)),
    needs: summary.needs.map((need) => needPage(view.run, need)),
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
    questions: questionPages(entries),
    decisions: report.decisions.map(({ now, by, what, path, text }) => ({
      now: Date.parse(now),
      by,
      what,
      did: decided[what],
      ...(path === undefined ? {} : { path }),
      ...(text === undefined ? {} : { text }),
    })),
    spent: spentIn(report),
    budgets: budgetUse(definition, state).map(({ of, ...use }): BudgetPage => ({ ...use, of: of ?? 'step' })),
    spending: spendingIn(entries),
  };
}

function reviewPage(definition: Definition, state: State, cursor: Cursor): ReviewPage | undefined {
  const { waiting, output, path, step } = cursor;
  if (waiting?.kind !== 'review' || waiting.by !== 'human') return undefined;
  return {
    at: handleOf(state, cursor),
    path,
    title: positionTitle(definition, state, cursor),
    output: output === undefined ? '' : opening(output),
    since: waiting.since,
    ...(waiting.author && { author: waiting.author.subject }),
    ...(waiting.tree === undefined ? {} : { tree: waiting.tree }),
    ...(cursor.checks > 0 ? { check: `${handleOf(state, cursor)}!${cursor.checks}` } : {}),
    pivots: pivotsOf(definition, step),
    commands: reviewCommands(suffixOf(state.run), handleOf(state, cursor)),
  };
}

function questionPages(entries: readonly StoredEntry[]): QuestionPage[] {
  const questions = new Map<string, QuestionPage>();
  for (const { actor, events } of entries)
    for (const event of events)
      if (event.type === 'question.asked') {
        const { id, at, text, now } = event;
        questions.set(id, { id, path: parseHandle(at)?.path ?? at, text, askedAt: now });
      } else if (event.type === 'question.answered') {
        const asked = questions.get(event.id);
        if (!asked) continue;
        asked.answer = event.answer;
        asked.answeredAt = event.now;
        if (actor?.name !== undefined) asked.by = actor.name;
      }
  return [...questions.values()];
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

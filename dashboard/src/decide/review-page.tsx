import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { type JSX, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { filesQuery, overviewQuery, runQuery } from '../api/client.ts';
import type { CheckPage, PositionFiles, ReviewPage as Review, RunPage } from '../api-types.ts';
import { Change } from '../files/change.tsx';
import { StaleNotice } from '../files/stale-notice.tsx';
import { textOf } from '../run/ansi.ts';
import { classNames } from '../ui/class-names.ts';
import { CopyText } from '../ui/copy.tsx';
import { Glyph } from '../ui/glyph.tsx';
import { modKey, useKeys } from '../ui/keys.ts';
import { Main } from '../ui/main.tsx';
import { verdictOf } from '../ui/marks.ts';
import { Segments } from '../ui/segments.tsx';
import { shortHash } from '../ui/short-hash.ts';
import { tookText, useWait } from '../ui/time.ts';
import { setTitle } from '../ui/title.ts';
import ui from '../ui/ui.module.css';
import { useLate } from '../ui/use-late.ts';
import css from './decide.module.css';
import { Options, Words } from './decision-dialog.tsx';
import { runHref } from './needs.ts';
import { ReadOnlyReason } from './read-only.tsx';
import { Refusal } from './refusal.tsx';
import { type Choice, useDecision } from './use-decision.ts';

const filesMs = 1000;

export default function ReviewPage({ run, at }: { run: string; at: string }): JSX.Element {
  const { data: page, error } = useQuery(runQuery(run));
  const { data: files, isPending } = useQuery(filesQuery(run));
  const found = page?.reviews.find((each) => each.at === at);
  // One that is done meanwhile stays: its form has the person's words.
  const last = useRef(found);
  last.current = found ?? last.current;
  const review = last.current;
  // A warning that comes later would move what is under the pointer.
  const isReady = useLate(filesMs) || !isPending;
  const name = page?.row.summary ?? page?.row.workflow ?? run;
  useEffect(() => {
    setTitle(`Review: ${name} · Stepfast`);
  }, [name]);
  return (
    <Main>
      {(error || (page && !found)) && (
        <div className={ui.empty}>
          <h1>{error?.message ?? 'This review is done, or the work has changed since.'}</h1>
          <Link className={ui.btn} href={page ? runHref(run) : '/'}>
            {page ? 'Open the run' : 'All runs'}
          </Link>
        </div>
      )}
      {page && review && isReady && (
        <ReviewOf
          page={page}
          review={review}
          files={files?.positions?.find((each) => each.at === at)}
          name={name}
        />
      )}
    </Main>
  );
}

interface Props {
  page: RunPage;
  review: Review;
  files: PositionFiles | undefined;
  name: string;
}

function ReviewOf({ page, review, files, name }: Props): JSX.Element {
  const { data: overview } = useQuery(overviewQuery);
  const since = useWait(review.since);
  const check = page.evidence.find(({ id }) => id === review.check);
  const { run } = page.row;
  return (
    <div className={css.review}>
      <header>
        <nav className={css.crumbs} aria-label="Breadcrumb">
          <Link href="/">Runs</Link>
          <ChevronRight size={14} aria-hidden="true" />
          <Link href={runHref(run)} className={ui.cut}>
            {name}
          </Link>
        </nav>
        <h1>Review {review.title}</h1>
        <p className={ui.soft}>
          {page.row.workflow} · <span className={ui.mono}>{review.path}</span> · waiting for {since}
        </p>
      </header>
      <div className={css.column}>
        {files?.validity === 'stale' && (
          <StaleNotice files={files}>
            <strong>
              The files are no longer those that {check ? 'the gates saw' : 'this review began with'}.
            </strong>{' '}
            {check
              ? 'The evidence does not prove what you would approve.'
              : 'What the agent says may not be about them.'}
          </StaleNotice>
        )}
        <section className={ui.card} aria-labelledby="said">
          <header className={ui.cardHead}>
            <h2 id="said">What {review.author ?? 'the agent'} says</h2>
          </header>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <div className={css.said} tabIndex={0} role="region" aria-label="Output of the agent">
            {review.output || 'The agent has said nothing.'}
          </div>
        </section>
        <Evidence check={check} files={files} />
        {files?.change && <Change change={files.change} />}
      </div>
      <section className={classNames(ui.card, css.decision)} aria-labelledby="decision">
        <header className={ui.cardHead}>
          <h2 id="decision">Your decision</h2>
        </header>
        {overview && !overview.me.mayDecide && (
          <div className={classNames(css.none, css.readOnly)}>
            <ReadOnlyReason />
            {review.commands.map((command) => (
              <CopyText key={command} text={command} />
            ))}
          </div>
        )}
        {overview?.me.mayDecide && (
          <DecisionForm page={page} review={review} isStale={files?.validity === 'stale'} />
        )}
      </section>
    </div>
  );
}

const validityText = {
  valid: 'The files are unchanged since.',
  stale: 'Files were written since.',
  unknown: 'It is not known whether files were written since.',
};

interface EvidenceProps {
  check: CheckPage | undefined;
  files: PositionFiles | undefined;
}

function Evidence({ check, files }: EvidenceProps): JSX.Element {
  return (
    <section className={ui.card} aria-labelledby="proofs">
      <header className={ui.cardHead}>
        <h2 id="proofs">Evidence</h2>
        {check?.tree && <span className={classNames(ui.mono, ui.muted)}>{shortHash(check.tree)}</span>}
        {check && files && (
          <span className={classNames(ui.muted, ui.cut)}>{validityText[files.validity]}</span>
        )}
      </header>
      {check ? (
        <ul className={css.proofs}>
          {check.gates.map((gate) => {
            const { mark, word } = verdictOf(gate, files?.validity === 'stale');
            const took = gate.reused ? 'reused' : gate.ms === undefined ? '' : tookText(gate.ms);
            return (
              <li key={`${gate.role} ${gate.what}`}>
                <div className={css.proof} data-mark={mark}>
                  <Glyph mark={mark} size={14} isQuiet />
                  <span className={classNames(ui.mono, ui.cut)}>{gate.what}</span>
                  <span>{word}</span>
                  {took && <span className={classNames(ui.muted, ui.num)}>{took}</span>}
                </div>
                {gate.reportedBy && <p className={css.reported}>Reported by the agent</p>}
                {gate.state === 'fail' && gate.tail && (
                  <pre className={css.tail}>{gate.tail.split('\n').map(plainLine).join('\n')}</pre>
                )}
              </li>
            );
          })}
        </ul>
      ) : (
        <p className={css.none}>No gates were run: what the agent says is not verified.</p>
      )}
    </section>
  );
}

const plainLine = (raw: string): string => textOf({ raw });

type Verdict = 'approve' | 'revise' | 'pivot' | 'abandon';

const verbs: Record<Verdict, string> = {
  approve: 'Approve',
  revise: 'Send back',
  pivot: 'Pivot',
  abandon: 'Abandon',
};

const wordsLabel: Record<Verdict, string> = {
  approve: 'Words for the agent',
  revise: 'What should change?',
  pivot: 'Why go back?',
  abandon: 'Why end the run?',
};

interface FormProps {
  page: RunPage;
  review: Review;
  isStale: boolean;
}

/** The engine does not take old evidence for changed files. */
function approvalText({ title, check }: Review, isStale: boolean): string {
  if (!isStale) return `${title} counts as done, and the run goes on.`;
  return check === undefined
    ? 'Files have changed since the review began: you will be asked to look once more.'
    : `The gates run again on the files as they are now. If they pass, ${title} counts as done.`;
}

function DecisionForm({ page, review, isStale }: FormProps): JSX.Element {
  const [, go] = useLocation();
  const { run } = page.row;
  const { isBusy, refusal, send } = useDecision(run);
  const [verdict, setVerdict] = useState<Verdict>('approve');
  const [words, setWords] = useState('');
  const [to, setTo] = useState(review.pivots[0] ?? '');
  const feedback = words.trim();
  const target = page.steps.find(({ id }) => id === to)?.title ?? to;
  const isReady = !isBusy && (verdict === 'approve' || feedback !== '');
  const choices: Verdict[] = ['approve', 'revise', ...(to ? (['pivot'] as const) : []), 'abandon'];
  const consequence = {
    approve: approvalText(review, isStale),
    revise: `The agent works on ${review.title} again, with your words.`,
    pivot: `The run goes back to ${target}, with a cleared context and your words.`,
    abandon: 'The run ends as failed.',
  }[verdict];
  const choice = (): Choice => {
    const said = { type: 'review', at: review.at, feedback } as const;
    if (verdict === 'approve')
      return { type: 'review', at: review.at, verdict, ...(feedback ? { feedback } : {}) };
    return verdict === 'pivot' ? { ...said, verdict, to } : { ...said, verdict };
  };
  const submit = async (): Promise<void> => {
    if (isReady && (await send(choice(), `${verbs[verdict]}: sent.`))) go(runHref(run), { replace: true });
  };
  useKeys({ 'mod+enter': () => void submit() });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Segments<Verdict>
        label="Your decision"
        value={verdict}
        options={choices.map((each) => [each, verbs[each]])}
        onChange={setVerdict}
      />
      {verdict === 'pivot' && (
        <Options
          label="Back to"
          value={to}
          options={review.pivots.map((id) => [id, page.steps.find((step) => step.id === id)?.title ?? id])}
          onChange={setTo}
        />
      )}
      <Words
        label={wordsLabel[verdict]}
        value={words}
        onChange={setWords}
        isOptional={verdict === 'approve'}
      />
      <p className={css.consequence} role="status">
        {consequence}
      </p>
      <Refusal text={refusal} />
      <footer>
        <button
          type="submit"
          className={classNames(ui.btn, ui.keyed, verdict === 'abandon' ? ui.danger : ui.primary)}
          data-key={`${modKey} ↵`}
          disabled={!isReady}
        >
          {verbs[verdict]}
        </button>
      </footer>
    </form>
  );
}

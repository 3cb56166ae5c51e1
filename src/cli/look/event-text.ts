import type { Event } from '../../machine/index.ts';
import type { Span } from '../paint.ts';
import { openingOf } from '../view/evidence.ts';
import type { Signs } from '../view/symbols.ts';

/** An event for people; undefined for what only the machine needs. */
export function describeEvent(event: Event, signs: Signs): Span[] | undefined {
  const { done, bad, here, waits } = signs;
  const path = 'at' in event && event.at !== undefined ? pathIn(event.at) : '';
  switch (event.type) {
    case 'run.started':
      return [['bold', 'started'], ` ${event.workflow}`, ...said(event.summary)];
    case 'run.adopted':
      return [['bold', 'adopted'], ` from ${event.adopted.source}`];
    case 'run.imported':
      return [['bold', 'imported'], ' from a saved state'];
    case 'run.completed':
      return [['green', `${done} the run is complete`]];
    case 'run.failed':
      return [['red', `${bad} the run failed`], ...said(event.reason)];
    case 'run.cancelled':
      return [['red', `${bad} the run was cancelled`], ...said(event.reason)];
    case 'run.blocked':
      return [['red', `${waits} stuck`], ...said(event.reason)];
    case 'run.rewound':
      return [['yellow', 'rewound'], ` to ${event.to}`];
    case 'run.pivoted':
      return [['magenta', 'pivot'], ` from ${event.from} to ${event.to}`];
    case 'position.entered': {
      const place = [event.step, event.task ?? event.iteration, event.subStep].filter(
        (part) => part !== undefined,
      );
      const why = event.why === 'next' || event.why === 'claim' ? '' : `, ${event.why}`;
      const holder = event.lease ? `, held by ${event.lease.holder}` : '';
      return [
        ['cyan', `${here} ${place.join('/')}`],
        ['dim', ` visit ${event.visit}${why}${holder}`],
      ];
    }
    case 'position.completed': {
      const checked = event.receipts.some(({ pass }) => pass);
      const mark: Span[] = checked ? [] : ['  ', ['yellow', 'unverified']];
      return [['green', `${done} ${path}`], ...mark, ...said(openingOf(event.output))];
    }
    case 'position.failed':
      return [['red', `${bad} ${path} failed`], ...said(event.reason)];
    case 'position.blocked':
      return [['red', `${waits} ${path} is stuck`], ...said(event.reason)];
    case 'tasks.set':
      return ['tasks of ', event.loop, ...said(event.tasks.map(({ id }) => id).join(', ') || 'none')];
    case 'task.ended':
      return event.end === 'done' ? undefined : [['yellow', `${event.task} ${event.end}`]];
    case 'task.dropped':
      return [['yellow', `${event.task} removed`], ` by ${event.by}`, ...said(event.reason)];
    case 'gates.requested':
      return [`gates of ${path}`, ['dim', '  unverified: '], openingOf(event.output)];
    case 'gates.finished':
      return event.receipts.flatMap((receipt, index): Span[] => [
        ...(index > 0 ? [', '] : []),
        [receipt.pass ? 'green' : 'red', `${receipt.pass ? done : bad} ${receipt.what}`],
        ...(receipt.pass || receipt.exit === undefined ? [] : [` exit ${receipt.exit}`]),
      ]);
    case 'gates.interrupted':
      return [['yellow', 'gates interrupted'], ` by their ${event.why}`];
    case 'review.requested':
      return [
        ['yellow', `${waits} ${path} waits`],
        ` for the review of ${event.by === 'human' ? 'a person' : event.by}`,
      ];
    case 'review.decided':
      return [['magenta', event.verdict], ` ${path} by ${event.by}`, ...said(event.feedback)];
    case 'budget.exhausted':
      return [['yellow', `${waits} the ${event.what} are used up`]];
    case 'budget.extended':
      return [
        ['magenta', 'budget raised'],
        ` by ${event.by}: ${Object.entries(event.amount)
          .map(([what, more]) => `${more} ${what}`)
          .join(', ')}`,
      ];
    case 'question.asked':
      return [['yellow', `${waits} ${event.id}`], ...said(event.text)];
    case 'question.answered':
      return [['magenta', `answer to ${event.id}`], ...said(event.answer)];
    case 'note.added':
      return [`${event.kind}${event.key === undefined ? '' : ` ${event.key}`}`, ...said(event.text)];
    case 'todo.replaced':
      return ['to-do list replaced'];
    case 'artifacts.loaded':
      return [['dim', `loaded ${event.artifacts.map(({ id }) => id).join(', ')} (${event.trigger})`]];
    case 'boundary.requested':
      return [
        ['cyan', 'context action asked for'],
        ` at ${path}${event.downgraded ? ', nobody could see it: preferred only' : ''}`,
      ];
    case 'boundary.reset':
      return [
        ['cyan', `context ${event.saw === 'new' ? 'begun anew' : `${event.saw} seen`}`],
        ` at ${path} by ${event.by}`,
      ];
    case 'boundary.released':
      return event.how === 'reset'
        ? undefined
        : [
            ['yellow', `context action ${event.how === 'skipped' ? 'skipped' : 'let pass by a person'}`],
            ` at ${path}`,
          ];
    case 'briefing.delivered':
      return event.proven === 'none'
        ? [['yellow', `briefing ${event.briefing} did not arrive`], ` in ${event.session}`]
        : [['dim', `briefing ${event.briefing} arrived (${event.proven})`]];
    case 'compaction.recorded':
      return [
        ['cyan', `context compacted (${event.trigger})`],
        ` the summary has ${event.found} of ${event.asked} facts`,
        ...(event.lost.length === 0 ? [] : said(`lost in it, kept here: ${event.lost.join(', ')}`)),
      ];
    case 'session.started':
      return [
        ['dim', `session ${event.session} joined${event.host === undefined ? '' : ` with ${event.host}`}`],
      ];
    case 'session.ended':
      return [['dim', `session ${event.session} ended`]];
    case 'stop.held':
      return [['yellow', 'a stop was held'], ` at ${path}`];
    default:
      return undefined;
  }
}

const pathIn = (at: string): string => at.slice(at.indexOf(':') + 1);

const said = (text: string | undefined): Span[] =>
  text === undefined || text === '' ? [] : ['  ', ['dim', text]];

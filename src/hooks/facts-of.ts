import { compileBriefing } from '../context/index.ts';
import { gatesOf } from '../definition/index.ts';
import { ended, requiredReading, type State } from '../machine/index.ts';
import { liveRuns } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { markedRuns } from '../workspace/index.ts';
import { capOf, needsFiles, plainSource, whereIs } from './compile-briefing.ts';
import {
  type Compiled,
  dropFacts,
  type Facts,
  journalSize,
  looksIn,
  readFacts,
  writeFacts,
} from './facts.ts';
import type { Place } from './place.ts';

/** Makes the facts of every live run anew where they hold no more; `ahead`: with a briefing, which takes longer. */
export async function renewFacts(
  place: Place,
  { ahead, characters }: { ahead: boolean; characters: number },
): Promise<void> {
  for (const run of markedRuns(place.marks)) {
    const known = readFacts(place.project, run);
    if (known && (known.briefing || !ahead)) continue;
    // Before the run is read: what is written meanwhile makes them stale, not wrong.
    const journal = journalSize(place.project, run);
    const view = await place.engine.view(run);
    const [live] = view && !ended(view.state) ? liveRuns([view]) : [];
    if (!view || !live) {
      dropFacts(place.project, run);
      continue;
    }
    // What a server said last is all there is while it is away.
    const briefing = ahead || journal === 0 ? compiledAhead(view, place, characters) : undefined;
    const made = place.now();
    const shown = journal > 0 ? undefined : shownOf(view, place);
    const facts: Facts = { ...factsOf(view, journal), made, live, ...(shown ? { shown } : {}) };
    writeFacts(place.project, run, briefing ? { ...facts, briefing } : facts);
  }
}

function factsOf({ definition, state }: Loaded, journal: number): Omit<Facts, 'live' | 'briefing'> {
  return {
    v: 1,
    journal,
    holds: definition.stop === 'hold',
    asks: Object.values(state.cursors).some(
      ({ boundary, waiting }) => boundary?.state === 'requested' || waiting !== undefined,
    ),
    cannot: Object.values(definition.agents ?? {}).flatMap(({ cannot = [] }) => cannot),
    reading: readingThatMatters({ definition, state }),
    artefacts: state.artefacts,
  };
}

function shownOf(view: Loaded, place: Place): NonNullable<Facts['shown']> {
  return { phase: whereIs(view, place, { session: '' }).status.phase, state: view.state };
}

/** Required reading, and what a gate wants to be read, from the top of the worktree. */
export function readingThatMatters({ definition, state }: Pick<Loaded, 'definition' | 'state'>): string[] {
  const { steps, loops = {} } = definition;
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  const wanted = [...requiredReading(definition, state), ...gates.flatMap(({ read = [] }) => read)];
  return [...new Set(wanted.map((path) => path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '')))];
}

/** Only where everybody would be told the same. */
function compiledAhead(view: Loaded, place: Place, characters: number): Compiled | undefined {
  if (needsFiles(view) || !isSameForAll(view.state)) return undefined;
  const source = plainSource(view, place, { session: '' });
  const { id, text, at } = compileBriefing(source, capOf(view, characters - roomForAge));
  const { worktree } = place.project;
  return {
    id,
    text,
    ...(at === undefined ? {} : { at }),
    now: place.now(),
    worktree,
    files: looksIn(
      worktree,
      source.reading.map(({ path }) => path),
    ),
  };
}

/** For the line that says how old a briefing is. */
const roomForAge = 100;

const isSameForAll = ({ cursors }: State): boolean =>
  Object.values(cursors).every(({ lease, waiting }) => lease === undefined && waiting === undefined);

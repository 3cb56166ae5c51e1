/** What is done with samples, and the words for the table. */
import type { Check, Runner } from './row.ts';
import * as artifacts from './runners/artifacts.ts';
import { compiles, compilesAll } from './runners/compile.ts';
import { followed as followedToEnd } from './runners/follow.ts';
import * as handlers from './runners/handlers.ts';
import * as modules from './runners/modules.ts';
import { testsOfDocument, testsPass } from './runners/printed-tests.ts';
import * as machine from './runners/reference-machine.ts';
import * as shell from './runners/shell.ts';
import * as states from './runners/state-files.ts';
import * as tools from './runners/tools.ts';
import * as window from './runners/window.ts';

const check = (does: string, ...runners: Runner[]): Check => ({
  does,
  run: async (sample, seeds) => {
    for (const run of runners) await run(sample, seeds);
  },
});

export const excused = (excuse: string) => ({ excuse });

// Code
export const typed = check('compiled: a value of the type is one of ours', compiles);
export const typedBoth = check('compiled: the type and ours are the same', compiles);
export const onOurs = check(
  'compiled; called on our machine at every position, with our result',
  compiles,
  machine.worksOnOurs,
);
export const inReference = check(
  'compiled; a machine of the printed methods and ours agree at every position of four walks',
  compiles,
  machine.agreesWithOurs,
);
export const asksContext = check('compiled; answers as our tools do', compiles, handlers.asksForContext);
export const startsAlike = check(
  'compiled; starts, shortens and restores as our tool does',
  compiles,
  handlers.startsAsOurs,
);
export const advancesAlike = check(
  'compiled; advances as our tool does, also without an output',
  compiles,
  handlers.advancesAsOurs,
);
export const refusesAlike = check(
  'compiled; refuses the values that our loader refuses',
  compiles,
  handlers.refusesAsOurs,
);
export const testsRun = check('compiled; the tests pass', compiles, testsPass);
export const goInterface = check(
  '`stepfast/context`: every method is there and does what its comment says',
  window.interfaceMethods,
);

// Workflows
export const followed = check(
  'validated, started and followed to its end; every context action is asked for',
  followedToEnd,
);
export const shipped = check(
  'bundled in the same place, with the same steps and context actions',
  shell.shipped,
);
export const byPath = check('`stepfast start` with an absolute path', shell.startsByPath);
export const configured = check(
  'a workflow that extends it loads every artifact and is followed to its end',
  artifacts.configures,
);
export const configuredAt = check(
  'the configuration in this place: validated, extended, its artifacts loaded',
  artifacts.configuresAt,
);
export const phases = check(
  'started: the step before a phase comes first; followed to its end',
  artifacts.phasesFollowed,
);

// Commands
export const tool = check('the tool is called', tools.toolAnswers);
export const contextCommand = check(
  'a position that waits for it opens when the hooks report it',
  tools.contextCommand,
);
export const todoTool = check(
  'called in `spec-feature`: replaces the list in the file, shows edits by hand, stays out of the briefing',
  tools.todoList,
);
export const stages = check('run in a project with a live run: stages what it names', shell.stages);
export const commits = check('run in a project with a live run: commits what was staged', shell.commits);
export const showsChanges = check(
  'run in a project with a live run: shows the change, nothing of Stepfast',
  shell.showsChanges,
);
export const typeChecks = check('all code of the document is compiled', compilesAll);
export const runsTests = check('the tests that the document prints are run', testsOfDocument);
export const script = check('run as printed; the file that it loads is our package', shell.scriptLoads);
export const server = check(
  'run as printed; the program is `stepfast mcp`: asks for the context action',
  shell.serverStarts,
);
export const removes = check(
  'run: a session was briefed on the file before, and none is after',
  shell.removesState,
);
export const primes = check(
  '`stepfast prime` with these options: loads the artifacts and records it',
  artifacts.primes,
);
export const startsBundled = check(
  '`workflow_start` of the bundled workflow with these phases',
  artifacts.startsWorkflow,
);
export const resumes = check(
  '`stepfast resume` in a second clone: restores, and shows both machines',
  artifacts.resumesElsewhere,
);

// Files of the other projects
export const typesFile = check('the types that the document puts there are exported', modules.holdsTypes);
export const machineFile = check(
  '`WorkflowStateMachine` has the methods that the document puts there',
  modules.holdsMachine,
);
export const serverFile = check('exists here, with every tool that the document calls', modules.holdsServer);
export const testFile = check('the tests that the plan puts there pass', modules.holdsTests);
export const loaderFile = check('our loader refuses what the code for it refuses', modules.holdsLoader);
export const exportsFile = check(
  "the package exports what the document's script takes from it",
  modules.holdsExports,
);
export const programFile = check(
  '`stepfast mcp` takes every option that the document gives it',
  modules.takesOptions,
);
export const savedState = check(
  'a state that Lanes saved: the run goes on where it was',
  modules.takesSavedState,
);
export const hookFile = check(
  'our hook for its event: silent without a workflow, informative with one',
  states.handlesEvent,
);
export const manager = check(
  '`stepfast/context`: index 0 and the last two messages survive compactions',
  window.keepsEnds,
);
export const feedback = check(
  'a pivot of a plan review: the feedback is in every briefing, under its tag',
  window.reviewFeedback,
);
export const template = check(
  'the phase in `spec-feature`: rendered from inputs and state, no placeholder left',
  window.phaseTemplate,
);
export const schema = check(
  'published in `schema/`, with the keys that the document adds',
  artifacts.schemaPublished,
);
export const reload = check(
  '`stepfast prime` and its skill take every option of the document',
  artifacts.reloadIsOffered,
);
export const page = check('our pages have every field and trigger of the sample', artifacts.documented);

// State, reading and artifacts
export const restored = check(
  'saved in its place: a session after a compaction is told all of it; adopted',
  states.restored,
);
export const restoredAt = check(
  'a state file there is told to a session after a compaction, and adopted',
  states.foundAt,
);
export const tree = check('state files in these places: the newest is told, all stay', states.foundInTree);
export const markers = check('adopted before a compaction, told after it', states.markersAdopted);
export const plan = check('a plan in progress there is adopted', states.planAdopted);
export const reading = check(
  'required reading: part of the next action until it is read',
  states.requiredReading,
);
export const readingWithoutAt = check(
  'required reading without `@`: refused with the corrected line, which is accepted',
  states.readingWithoutSign,
);
export const layout = check('`ContextWindow`: prompt and conversation are at these indexes', window.indexes);
export const pivot = check(
  '`pin`, and a pivot of a budget review: the line is in the prompt and the briefing',
  window.budgetPivot,
);
export const todoFile = check(
  '`spec-feature` has it in the worktree; edits by hand are shown',
  tools.todoList,
);
export const stateFields = check('valid by `schema/state.schema.json`', artifacts.stateFields);
export const stateFile = check(
  'written there, under our folder, with the fields of the sample',
  artifacts.stateFile,
);
export const portable = check(
  'noted as an artifact: the placeholder leads to the file',
  artifacts.portablePath,
);
export const artifact = check(
  'a critical artifact with this path is part of the briefing',
  artifacts.artifactLoaded,
);

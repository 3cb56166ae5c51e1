import { commandName } from '../../command-name.ts';
import { excludedFrom } from '../../definition/index.ts';
import { treeOf } from '../../evidence/index.ts';
import { sessionIn } from '../../hosts/index.ts';
import {
  type Definition,
  endedUnproven,
  formatHandle,
  parseHandle,
  type State,
} from '../../machine/index.ts';
import { ago, openingOf, printable, refusalText, shellVoice } from '../../messages/index.ts';
import {
  type Answer,
  createBindings,
  highPressure,
  isRefused,
  type LocalRuntime,
  type Refused,
} from '../../runtime/index.ts';
import { runBranch, runWorktree } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { callerOf, isPerson } from '../caller.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import {
  dueIds,
  printDue,
  printJson,
  printRefusal,
  type RunValues,
  shellStatus,
  watchedCall,
} from '../perform.ts';
import { runNamed, runToName, suffixOf } from '../run-name.ts';
import { openRuntime, positionOptions } from '../run-options.ts';
import { findAgentSession } from '../view/agent-session.ts';
import { commandRows } from '../view/command-rows.ts';
import { proofLines, proofOf } from '../view/evidence.ts';
import { createGateLogs } from '../view/gate-log.ts';
import { runLines } from '../view/run-view.ts';
import { damageOf } from './damage.ts';
import { isLive, runJson, runTable } from './run-table.ts';

export const options = {
  ...positionOptions,
  wait: { type: 'boolean', short: 'w' },
  as: { type: 'string' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const found = await runtime.chooseRun({ run: named, at: values.at });
  if ('code' in found) {
    if (found.code === 'several_runs' && named === undefined) return await printSeveral(runtime, io, values);
    if (found.code === 'no_run' && named === undefined && values.at === undefined)
      return await printNoRun(found, runtime, io, values);
    return printRefusal(found, io, { ...values, run: named });
  }
  const callValues: RunValues = { json: values.json, run: found.run, wait: values.wait ? undefined : '0' };
  const request = {
    type: 'status' as const,
    at: values.at ?? (await heldBy(values.as, found.run, runtime)),
  };
  const answer = await watchedCall(io, callValues, request, { runtime, who: callerOf(io, values.as) });
  if (answer === 'detached') {
    io.stderr.write(
      `The gates keep running. To wait for them: ${commandName()} status ${suffixOf(found.run)} --wait\n`,
    );
    return exit.pending;
  }
  return await print(answer, named, runtime, io, values);
}

async function print(
  { run, reply, worktree, warning, due }: Answer,
  named: string | undefined,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const name = run === undefined ? undefined : await runToName(runtime, run);
  if (isRefused(reply)) return printRefusal(reply, io, { ...values, run: named }, name);
  const view = run === undefined ? undefined : await runtime.engine.view(run);
  if (!view) return printJson(io, shellStatus(reply, name), exit.ok);
  // The loaded state is verified; the full history is checked only when the run is named.
  const damage = named === undefined ? undefined : await damageOf(runtime, view.run);
  const code = damage ? exit.no : reply.checking ? exit.pending : exit.ok;
  const { definition, state } = view;
  const tree = await currentTree(runtime, state, definition);
  const contextUsed = await contextUsedIn(runtime, view.run, io);
  if (values.json) {
    const { workflow, summary = null } = state;
    const more = {
      worktree,
      warning,
      context_used: contextUsed,
      damage: damage?.message,
      due: dueIds(due, reply),
    };
    return printJson(
      io,
      { ...shellStatus(reply, name), workflow, summary, done: doneJson(definition, state, tree), ...more },
      code,
    );
  }
  const proof = state.status === 'complete' ? proofOf(definition, state) : undefined;
  const logOf = createGateLogs(runtime.project, reply);
  const noNext = proof?.length === 0;
  const agent = await findAgentSession(runtime, state, io);
  const lines = runLines(
    {
      definition,
      state,
      status: reply,
      tree,
      worker: !isPerson(io),
      name,
      logOf,
      noNext,
      agent,
      contextUsed,
    },
    io,
  );
  if (proof) lines.push('', ...proofLines(proof, { definition, state }, runtime.project.worktree, io));
  if (worktree !== undefined) lines.push('', `Work in ${printable(worktree)}`);
  io.stdout.write(`${lines.join('\n')}\n`);
  printDue(dueIds(due, reply), name, io);
  if (warning !== undefined)
    io.stderr.write(`${paint(io.stderr, 'yellow', 'note')}  ${printable(warning)}\n`);
  if (damage) printRefusal(damage, io, {});
  return code;
}

/** Of the calling agent's own session, else of the fullest session of the run. */
async function contextUsedIn({ project }: LocalRuntime, run: string, io: Io): Promise<number | undefined> {
  const bindings = await createBindings(project.directory).list();
  const own = sessionIn(io.env);
  return highPressure(bindings.filter((each) => each.run === run && (own ?? each.session) === each.session));
}

/** The position of the only task held under the name. */
async function heldBy(
  name: string | undefined,
  run: string,
  { engine }: LocalRuntime,
): Promise<string | undefined> {
  const state = name === undefined ? undefined : (await engine.view(run))?.state;
  const held = Object.values(state?.cursors ?? {}).filter(({ lease }) => lease?.holder === name);
  const [only, second] = held;
  return state && only && !second ? formatHandle(run, only.path, only.visit) : undefined;
}

/** Hashes the files only if there is a tree to compare with. */
async function currentTree(
  { project }: LocalRuntime,
  { run, outputs, branch }: State,
  definition: Parameters<typeof excludedFrom>[0],
): Promise<string | undefined> {
  if (!Object.values(outputs).some(({ tree }) => tree !== undefined)) return undefined;
  // The work of a driven run is in a worktree of its own, as long as it exists.
  const worktree = branch === runBranch(run) ? runWorktree(project, run) : project.worktree;
  return worktree === undefined
    ? undefined
    : (await treeOf({ worktree, exclude: excludedFrom(definition) })).hash;
}

function doneJson(definition: Definition, { outputs }: State, tree: string | undefined): object[] {
  return Object.values(outputs).map((output) => ({
    path: parseHandle(output.at)?.path,
    at: output.at,
    now: new Date(output.now).toISOString(),
    verified: output.receipts.some(({ pass }) => pass),
    ...(endedUnproven(definition, output) && { unproven: true }),
    on_this_tree: tree === undefined || output.tree === undefined ? null : output.tree === tree,
    reviewed: output.reviewed ?? null,
    opening: openingOf(output.text),
    receipts: output.receipts.map(({ tail: _, ...receipt }) => receipt),
  }));
}

async function printSeveral(
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  const live = (await runtime.engine.runs()).filter(isLive);
  if (values.json) return printJson(io, { runs: live.map(runJson) }, exit.ok);
  io.stdout.write(runTable(live, io));
  io.stderr.write(`Choose one: ${commandName()} status ${suffixOf(live[0]?.run ?? '')}\n`);
  return exit.ok;
}

async function printNoRun(
  refused: Refused,
  runtime: LocalRuntime,
  io: Io,
  values: { json?: boolean | undefined },
): Promise<number> {
  if (values.json) return printRefusal(refused, io, values);
  const out = (text: string): void => io.stderr.write(`${text}\n`);
  const last = (await runtime.engine.runs({ ended: true })).find(({ state }) => state !== undefined);
  out(refusalText(refused, shellVoice()).message);
  if (last?.state)
    out(`Last run: ${last.run}, ${last.state.status}, ${ago(last.state.updatedAt, io.now())}.`);
  out('');
  const rows: [string, string][] = [
    [`${commandName()} go "what to do"`, 'run a task and verify it'],
    [`${commandName()} start <workflow>`, `start a workflow; see: ${commandName()} list`],
    ...(last
      ? [[`${commandName()} log`, 'show the history of the last run'] satisfies [string, string]]
      : []),
  ];
  for (const row of commandRows(rows, io.stderr)) out(`  ${row}`);
  return exit.no;
}

import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { RefusalText, Refused } from '../../messages/index.ts';
import { count, printable, wrap } from '../../messages/index.ts';
import {
  type Adoption,
  adopt,
  endCompleted,
  findInformal,
  type InformalWorkflow,
  isRefusedAdoption,
  type LostSource,
  lostSources,
  markers,
  readInformal,
} from '../../runtime/index.ts';
import { type Project, portable, sessionEnvironment } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { callerOf, isPerson, personOnly } from '../caller.ts';
import { exit, notFound } from '../exit.ts';
import { type Io, wrapWidth } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';

export const options = { ...projectOptions, force: { type: 'boolean' } } as const;

const example = `# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md`;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const refused =
    values.force === true
      ? personOnly(io, 'adopt a second run in a worktree', `${commandName()} adopt --force`)
      : undefined;
  if (refused) return printRefusal(refused, io, values);
  return await adoptFile(positionals[0], io, values);
}

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

/** Adopts the file that was named, or the only one that is found. */
export async function adoptFile(named: string | undefined, io: Io, values: Values): Promise<number> {
  const { engine, project } = openRuntime(io, values);
  const context = { engine, project, clock: io.now };
  const over = await endCompleted(context);
  const found = findInformal(project);
  const lost = [...over, ...(await lostSources(context))];
  const chosen = choose(named, found, project, io);
  if ('code' in chosen) {
    const code = values.json ? printJson(io, { ...chosen, lost }, exit.no) : printRefusal(chosen, io, values);
    if (!values.json) hint(chosen, lost, io);
    return code;
  }
  const { actor, session } = callerOf(io);
  const facts =
    session === undefined
      ? undefined
      : {
          worktree: portable(project.worktree, project.root),
          environment: sessionEnvironment(project, io.env),
        };
  const made = await adopt(context, chosen, { actor, session, facts, force: values.force });
  if (isRefusedAdoption(made)) {
    const refusal: Refused =
      made.code === 'run_live' && isPerson(io) ? { ...made, params: { ...made.params, force: true } } : made;
    const code = printRefusal(refusal, io, values);
    if (!values.json) printLost(lost, io);
    return code;
  }
  if (values.json) return printJson(io, documentOf(chosen, made, lost), exit.ok);
  for (const line of lines(chosen, made, io)) io.stdout.write(`${line}\n`);
  printLost(lost, io);
  return exit.ok;
}

/** The file that was named, or the only one that was found. Throws not_found. */
function choose(
  named: string | undefined,
  found: readonly InformalWorkflow[],
  project: Project,
  io: Io,
): InformalWorkflow | (RefusalText & { found: object[] }) {
  if (named !== undefined)
    return found.find(({ source }) => source === named) ?? fileNamed(named, project, io);
  const [only, second] = found;
  if (only && !second) return only;
  if (only)
    return {
      code: 'several_found',
      message: `${count(found.length, 'workflow')} are in progress here.`,
      next: `Choose one: ${commandName()} adopt <file>`,
      found: found.map(({ source, name, phase }) => ({ source, name, phase: phase ?? null })),
      runs: found.map(({ source, name }) => `${source}: ${name}`),
    };
  return {
    code: 'nothing_found',
    message: 'Found no workflow notes to adopt.',
    next: `Describe the workflow in CLAUDE.local.md, or pass its file: ${commandName()} adopt <file>`,
    found: [],
  };
}

function fileNamed(named: string, project: Project, io: Io): InformalWorkflow {
  const path = relative(project.worktree, resolve(realpathSync(io.cwd), named));
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..')
    throw notFound(`'${printable(named)}' is not a file of this project.`);
  const read = readInformal(project, path);
  if ('why' in read) throw notFound(`'${printable(named)}' ${read.why}.`);
  return read;
}

function hint({ found }: { found: object[] }, lost: readonly LostSource[], io: Io): void {
  if (found.length === 0) {
    const symbols = markers.map((marker) => `"${marker}"`).join(', ');
    const looked = `Looked for untracked/workflow-state/*/state-*.json, CLAUDE.local.md with ${symbols}, and CLAUDE/Plan/*/PLAN.md with "🔄 In Progress". For example:`;
    const text = [...wrap(looked, wrapWidth(io.stderr)), '', example.replaceAll(/^(?=.)/gm, '  ')];
    io.stderr.write(`\n${text.join('\n')}\n`);
  }
  printLost(lost, io);
}

function lines({ name, source, phase, reading }: InformalWorkflow, { run, how }: Adoption, io: Io): string[] {
  const symbols = symbolsFor(io);
  const say = { adopted: 'adopted from', updated: 'updated from', unchanged: 'unchanged, from' }[how];
  const line = (...spans: Span[]): string => renderLine(spans, io.stdout, symbols.more);
  const field = (label: string, text: string): string => line(['dim', label.padEnd(9)], printable(text));
  const whole = { ...io.stdout, columns: undefined };
  return [
    renderLine([['green', symbols.done], ' ', ['bold', run], `  ${say} ${printable(source)}`], whole),
    field('workflow', name),
    field('phase', phase ? `${phase.current}/${phase.total} ${phase.name}` : 'unknown'),
    ...reading.map((path, index) => field(index === 0 ? 'reading' : '', path)),
    '',
    line(['bold', 'next'.padEnd(9)], 'Continue the work; every briefing includes its progress.'),
    renderLine(['         ', ['cyan', `${commandName()} status ${suffixOf(run)}`]], whole),
  ];
}

function printLost(lost: readonly LostSource[], io: Io): void {
  for (const { run, source, why } of lost)
    io.stderr.write(
      why === 'complete'
        ? `${printable(source)} is complete or was removed, so ${run} has ended.\n`
        : `${printable(source)} no longer describes ${run}, which is still active. To end it: ${commandName()} advance "done" --run ${suffixOf(run)}\n`,
    );
}

const documentOf = (
  { name, source, phase, reading }: InformalWorkflow,
  { run, how }: Adoption,
  lost: readonly LostSource[],
): object => ({ run, how, name, source, phase: phase ?? null, reading, lost });

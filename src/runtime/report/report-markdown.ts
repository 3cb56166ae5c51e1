import { suffixOf } from '../../machine/index.ts';
import { approvedText, count, decided, lasting, reportedText } from '../../messages/index.ts';
import { codeText, plainText } from './markdown-text.ts';
import type { EvidenceState, GateReport, PositionReport, Report, StepReport, TaskReport } from './report.ts';

const maxCell = 160;
const maxText = 400;

/**
 * The report for GitHub, with commands as every machine knows them: the verdict, a table of the steps, the details folded. With `maxCharacters`, details are
 * left out from the end, with a note, until the rest fits.
 */
export function reportMarkdown(report: Report, { maxCharacters = Infinity } = {}): string {
  const head = [...verdict(report), '', ...stepTable(report)];
  const sections = sectionsOf(report).map(details);
  const foot = footer(report);
  const whole = [head.join('\n'), ...sections, foot].join('\n\n');
  if (whole.length < maxCharacters) return `${whole}\n`;
  const note = `**Shortened.** The whole report: \`stepfast report ${suffixOf(report.run)}\``;
  const fits = (parts: readonly string[]): boolean => parts.join('\n\n').length < maxCharacters;
  for (let kept = sections.length - 1; kept >= 0; kept -= 1) {
    const parts = [head.join('\n'), ...sections.slice(0, kept), note, foot];
    if (fits(parts)) return `${parts.join('\n\n')}\n`;
  }
  let lines = head.length;
  while (lines > 0 && !fits([head.slice(0, lines).join('\n'), note, foot])) lines -= 1;
  return `${[head.slice(0, lines).join('\n'), note, foot].join('\n\n')}\n`;
}

const signs: Record<EvidenceState, string> = {
  proven: '✅',
  unproven: '⚠️',
  unverified: '⚠️',
  failed: '❌',
  skipped: '➖',
  dropped: '➖',
  open: '⏳',
  not_reached: '▫️',
};

const meanings: Record<EvidenceState, string> = {
  proven: 'proven',
  unproven: 'unproven: it ended although its check never passed',
  unverified: 'unverified: reported, and no gate checked it',
  failed: 'failed',
  skipped: 'skipped',
  dropped: 'dropped',
  open: 'not finished',
  not_reached: 'not reached',
};

function verdict(report: Report): string[] {
  const { status, reason, steps, false_done, parked, workflow, run, summary } = report;
  const done = steps.filter(({ evidence }) => isDone(evidence));
  const proven = done.filter(({ evidence }) => evidence === 'proven').length;
  const all = status === 'complete' && proven === done.length && proven > 0;
  const sign =
    status === 'failed' || status === 'cancelled' ? '❌' : all ? '✅' : status === 'complete' ? '⚠️' : '⏳';
  const word = {
    complete: 'Complete',
    failed: 'Failed',
    cancelled: 'Cancelled',
    waiting: 'Waiting',
    running: 'Running',
  };
  const why =
    reason === undefined ? '' : `${status === 'waiting' ? ' for' : ':'} ${plainText(reason, maxText)}`;
  const facts = [
    done.length === 0
      ? 'No step was completed.'
      : `${proven} of ${count(done.length, 'completed step')} proven by gates.`,
    ...(false_done.length === 0
      ? []
      : [`Gates caught ${count(false_done.length, 'false report')} of completion.`]),
    ...(parked.length === 0 ? [] : [`${count(parked.length, 'task')} parked.`]),
  ];
  return [
    `${sign} **${word[status]}${why}.** ${facts.join(' ')}`,
    '',
    ...(summary === undefined ? [] : [`> ${plainText(summary, maxText)}`, '']),
    [
      `${codeText(workflow, maxCell)} run ${codeText(run, maxCell)}`,
      ...(report.branch === undefined ? [] : [`on ${codeText(report.branch, maxCell)}`]),
      ...figures(report),
    ].join(' · '),
  ];
}

const isDone = (evidence: EvidenceState): boolean =>
  evidence === 'proven' || evidence === 'unproven' || evidence === 'unverified';

function figures({ wall_ms, spent: { active_ms, turns, tokens, cost }, retries }: Report): string[] {
  const number = (value: number): string => Math.round(value).toLocaleString('en-US');
  return [
    `${timeText(wall_ms)}${active_ms === undefined ? '' : `, ${timeText(active_ms)} active`}`,
    ...(turns === undefined ? [] : [`${number(turns)} ${turns === 1 ? 'turn' : 'turns'}`]),
    ...(tokens === undefined ? [] : [`${number(tokens)} tokens`]),
    ...(cost === undefined ? [] : [`$${cost.toFixed(2)}`]),
    ...(retries === 0 ? [] : [`${retries} ${retries === 1 ? 'retry' : 'retries'}`]),
  ];
}

function timeText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? lasting(ms) : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function stepTable({ steps }: Report): string[] {
  return [
    '| | Step | Evidence | Tree |',
    '| --- | --- | --- | --- |',
    ...steps.map(
      (step) =>
        `| ${signs[step.evidence]} | ${plainText(step.title, maxCell)} | ${stepEvidence(step)} | ${treeText(step.tree)} |`,
    ),
  ];
}

const treeText = (tree: string | undefined): string =>
  tree === undefined ? '' : codeText(tree.replace(/^(?:git|files):/, '').slice(0, 12), maxCell);

function stepEvidence({ evidence, tasks = [], positions, because }: StepReport): string {
  if (evidence === 'skipped') return `${meanings.skipped}${becauseText(because)}`;
  if (tasks.length > 0) return taskCounts(tasks);
  const last = positions.at(-1);
  return last && isDone(evidence) ? positionEvidence(last) : meanings[evidence];
}

const becauseText = (because: Record<string, string> | undefined): string =>
  because === undefined || Object.keys(because).length === 0
    ? ''
    : `: ${Object.entries(because)
        .map(([name, value]) => codeText(`${name} = ${value}`, maxCell))
        .join(', ')}`;

/** `3 of 4 tasks proven, 1 dropped`. */
function taskCounts(tasks: readonly TaskReport[]): string {
  const number = (state: EvidenceState): number => tasks.filter(({ evidence }) => evidence === state).length;
  const others = (['unverified', 'unproven', 'failed', 'skipped', 'dropped', 'open'] as const).flatMap(
    (state) => (number(state) === 0 ? [] : [`${number(state)} ${state}`]),
  );
  return [`${number('proven')} of ${count(tasks.length, 'task')} proven`, ...others].join(', ');
}

function positionEvidence({ evidence, gates, reviewed, ownWork }: PositionReport): string {
  const shown = gates.filter(({ pass, role }) =>
    evidence === 'unproven' ? !pass : pass && role !== 'until',
  );
  const approved = reviewed === undefined ? '' : `, ${approvedText(plainText(reviewed, maxCell), ownWork)}`;
  const said = [...(evidence === 'proven' ? [] : [meanings[evidence]]), ...new Set(shown.map(gateLine))];
  return `${said.join('; ')}${approved}`;
}

/** What a gate found, and whether it had to be the work that made it so. */
function gateLine({ what, kind, pass, expect, before, reportedBy }: GateReport): string {
  const verb = {
    run: pass ? (expect ? '' : 'passed') : 'failed',
    exists: pass ? 'exists' : 'does not exist',
    condition: pass ? 'holds' : 'does not hold',
    read: pass ? 'was read' : 'was not read',
  }[kind];
  const change =
    before === undefined || !pass ? '' : before === 'fail' ? ' (red → green)' : ' (green before)';
  const reported = reportedBy ? `, ${reportedText}` : '';
  return `${codeText(what, maxCell)}${verb === '' ? '' : ` ${verb}`}${change}${reported}`;
}

interface Section {
  title: string;
  lines: string[];
}

const details = ({ title, lines }: Section): string =>
  `<details>\n<summary>${title}</summary>\n\n${lines.join('\n')}\n\n</details>`;

/** The most important first: the last ones are left out where there is no room. */
function sectionsOf(report: Report): Section[] {
  const { steps, false_done, failures, boundaries, decisions, questions, inputs, parked } = report;
  const all: Section[] = [
    {
      title: 'Parked',
      lines: parked.map(({ task, branch, reason }) => item(code(task), `on ${code(branch)}`, reason)),
    },
    { title: 'What was done', lines: steps.flatMap(stepLines) },
    {
      title: `${count(false_done.length, 'false report')} of completion caught`,
      lines: false_done.map(({ path, said, red }) =>
        item(
          code(path),
          `red: ${red.map((what) => code(what)).join(', ') || 'files kept changing'}; the agent said ${quoted(said)}`,
          undefined,
        ),
      ),
    },
    {
      title: `${count(decisions.length, 'decision')} by people`,
      lines: decisions.map(({ by, what, path, text }) =>
        item(
          `**${plainText(by, maxCell)}**`,
          `${decided[what]}${path === undefined ? '' : ` ${code(path)}`}`,
          text,
        ),
      ),
    },
    {
      title: count(questions.length, 'question'),
      lines: questions.flatMap(({ path, text, answer, by }) => [
        item(code(path), 'asked', text),
        answer === undefined
          ? '  - no answer'
          : `  - ${by === undefined ? 'answer' : `**${plainText(by, maxCell)}**`}: ${plainText(answer, maxText)}`,
      ]),
    },
    {
      title: `${count(failures.length, 'failure')}`,
      lines: failures.map(({ path, what, reason }) =>
        item(path === undefined ? 'run' : code(path), what, reason),
      ),
    },
    {
      title: `${count(boundaries.length, 'context boundary', 'context boundaries')}`,
      lines: boundaries.map((each) => item(code(each.path), boundaryText(each), undefined)),
    },
    {
      title: count(Object.keys(inputs).length, 'input'),
      lines: Object.entries(inputs).map(([name, value]) => `- ${code(name)}: ${code(String(value) || ' ')}`),
    },
  ];
  return all.filter(({ lines }) => lines.length > 0);
}

/** The words of an agent. */
const quoted = (text: string): string => `“${plainText(text, maxText)}”`;

const code = (text: string): string => codeText(text, maxCell);

const item = (subject: string, what: string, text: string | undefined): string =>
  `- ${subject} ${what}${text === undefined || text === '' ? '' : `: ${plainText(text, maxText)}`}`;

function stepLines({ title, evidence, positions, tasks, because }: StepReport): string[] {
  if (evidence === 'not_reached') return [];
  const own = `- ${signs[evidence]} **${plainText(title, maxCell)}**`;
  if (evidence === 'skipped') return [`${own}: skipped${becauseText(because)}`];
  return [
    `${own}${positions.length === 0 && (tasks ?? []).length === 0 ? `: ${meanings[evidence]}` : ''}`,
    ...positions.flatMap((position) => positionLines(position, '  ', positions.length > 1)),
    ...(tasks ?? []).flatMap((task) => [
      `  - ${signs[task.evidence]} ${code(task.id)} ${plainText(task.title, maxCell)}${task.commit === undefined ? '' : `, merged as ${code(task.commit.slice(0, 10))}`}${task.end === 'dropped' ? `: dropped${task.reason === undefined ? '' : `, ${plainText(task.reason, maxText)}`}` : ''}`,
      ...task.positions.flatMap((position) => positionLines(position, '    ', true)),
    ]),
  ];
}

function positionLines(position: PositionReport, indent: string, named: boolean): string[] {
  const { path, evidence, output, tree } = position;
  const name = named ? `${code(path.slice(path.lastIndexOf('/') + 1))} ` : '';
  if (evidence === 'skipped') return [`${indent}- ${name}skipped`];
  const where = tree === undefined || evidence !== 'proven' ? '' : ` on ${treeText(tree)}`;
  return [
    `${indent}- ${name}${positionEvidence(position)}${where}`,
    ...(output === undefined || output === '' ? [] : [`${indent}  - ${quoted(output)}`]),
  ];
}

function boundaryText({
  action,
  policy,
  downgraded,
  performed,
  observed_by,
  released,
}: Report['boundaries'][number]): string {
  const wanted = `${action ?? 'context action'} ${policy === 'require' ? 'required' : 'preferred'}${downgraded ? ' (it could not be observed)' : ''}`;
  if (performed !== undefined)
    return `${wanted}: ${performed === 'new' ? 'new session' : performed}, observed by ${observed_by?.replace('_', ' ')}`;
  if (released === 'proceeded') return `${wanted}: waived by a person`;
  return `${wanted}: ${released === 'skipped' ? 'skipped' : 'not performed'}`;
}

const footer = ({ run, tree }: Report): string =>
  [
    ...(tree === undefined ? [] : [`The last green gates hold for the tree ${treeText(tree)}.`]),
    `Check it on a clean clone: \`stepfast verify --run ${run}\`. This proves that nothing was changed since, not who wrote it.`,
  ].join(' ');

import { columnsOf, truncate } from '../../messages/index.ts';
import type { Card, Graph, Mark, Phase } from '../../runtime/index.ts';

/** A Mermaid flowchart, which GitHub and many editors render. Ends with a newline. */
export function drawMermaid(graph: Graph): string {
  // Mermaid lays out subgraphs first, so an arrow back across a loop would invert the whole chart.
  const arrows = graph.phases.every(({ subSteps }) => subSteps.length === 0);
  const pivots = (index: number): string[] =>
    arrows
      ? []
      : graph.pivots
          .filter(({ from }) => from === index)
          .map(({ to }) => escapeLabel(`↩ pivot to ${graph.phases[to]?.id}`));
  const boxes = graph.phases.map((phase, index) => boxOf(phase, `s${index + 1}`, pivots(index)));
  const lines = [
    'flowchart TD',
    `  begin([${quoted([bold(graph.name)])}])`,
    ...boxes.flatMap((box) => box.lines),
    '  finish([done])',
    ...graph.phases.map((phase, index) =>
      edge(boxes[index - 1]?.out ?? 'begin', `s${index + 1}`, phase.before),
    ),
    edge(boxes.at(-1)?.out ?? 'begin', 'finish', undefined),
    ...(arrows ? graph.pivots : []).map(({ from, to }) => `  ${boxes[from]?.out} -. "pivot" .-> s${to + 1}`),
    '  classDef action stroke:#0969da,stroke-width:2px',
    '  classDef loop stroke:#8250df,stroke-width:2px',
    '  classDef ralph stroke:#9a6700,stroke-width:2px',
  ];
  return `${lines.join('\n')}\n`;
}

interface Box {
  lines: string[];
  /** The node that the next edge starts from. */
  out: string;
}

function boxOf(phase: Phase, key: string, pivots: string[]): Box {
  if (phase.subSteps.length > 0) return loopBox(phase, key, pivots);
  const label = quoted([heading(phase), ...rounds(phase), ...details(phase), ...decisions(phase), ...pivots]);
  const again = phase.type === 'ralph' ? [`  ${key} --> ${key}`] : [];
  return { lines: [`  ${key}[${label}]:::${phase.type}`, ...again], out: key };
}

/** Gates and review after the last task are a node below the loop, because a subgraph title has only one line. */
function loopBox(phase: Phase, key: string, pivots: string[]): Box {
  const keys = phase.subSteps.map((_, index) => `${key}_${index + 1}`);
  const title =
    heading(phase) + escapeLabel(phase.parallel > 1 ? ` · each task · ×${phase.parallel}` : ' · each task');
  const tasks = phase.tasks === undefined ? [] : [escapeLabel(phase.tasks)];
  const after = [...tasks, ...details(phase), ...decisions(phase), ...pivots];
  const out = after.length > 0 ? `${key}_after` : key;
  return {
    lines: [
      `  subgraph ${key}[${quoted([title])}]`,
      '    direction TB',
      ...phase.subSteps.map((sub, index) => `    ${keys[index]}[${subStepLabel(sub, index)}]`),
      ...phase.subSteps
        .slice(1)
        .map((sub, index) => `  ${edge(`${keys[index]}`, `${keys[index + 1]}`, sub.before)}`),
      `    ${keys.at(-1)} -. "next task" .-> ${keys[0]}`,
      '  end',
      `  style ${key} fill:none,stroke:#8250df,stroke-width:2px`,
      ...(after.length > 0 ? [`  ${out}[${quoted(after)}]:::loop`, edge(key, out, undefined)] : []),
    ],
    out,
  };
}

/** No edge leads to the first sub-step, so its boundary is shown in its node. */
const subStepLabel = (sub: Card, index: number): string =>
  quoted([
    ...(index === 0 && sub.before ? [escapeLabel(`${sub.before.command} first`)] : []),
    heading(sub),
    ...details(sub),
  ]);

const edge = (from: string, to: string, mark: Mark | undefined): string =>
  mark ? `  ${from} -->|${quoted([escapeLabel(mark.command)])}| ${to}` : `  ${from} --> ${to}`;

const heading = (card: Card): string =>
  bold(card.title ?? card.id) +
  (card.title === undefined ? '' : escapeLabel(` (${card.id})`)) +
  (card.agent === undefined ? '' : escapeLabel(` · ${card.agent}`));

function rounds(phase: Phase): string[] {
  if (phase.type !== 'ralph') return [];
  const until = phase.until.map(({ text }, index) => escapeLabel(`${index === 0 ? 'until' : 'and'} ${text}`));
  const reset = phase.before?.eachRound ? [escapeLabel(`${phase.before.command} before each round`)] : [];
  return [escapeLabel(`up to ${phase.rounds} ×`), ...until, ...reset];
}

function details(card: Card): string[] {
  return [
    ...(card.when === undefined ? [] : [escapeLabel(`if ${card.when}`)]),
    ...(card.about === '' ? [] : [escapeLabel(card.about)]),
    ...card.gates.map(({ text }) => escapeLabel(`□ ${text}`)),
    ...(card.failure === undefined ? [] : [escapeLabel(`✗ ${card.failure}`)]),
    ...(card.readOnly ? ['read only'] : []),
  ];
}

const decisions = (phase: Phase): string[] => [
  ...(phase.review === undefined ? [] : [escapeLabel(`◇ review by ${phase.review}`)]),
  ...(phase.budget === undefined ? [] : [escapeLabel(`≤ ${phase.budget.join(' · ')}`)]),
];

const bold = (text: string): string => `<b>${escapeLabel(text)}</b>`;
const quoted = (lines: readonly string[]): string => `"${lines.join('<br/>')}"`;

/**
 * Truncates, and encodes everything except letters, digits and safe punctuation. An allowlist, because Mermaid
 * interprets many characters: quotes, `%%{…}%%` directives, backticks, and the colon, after which it drops semicolons.
 */
const escapeLabel = (text: string): string =>
  truncate(text, 64, columnsOf).replace(
    /[^\p{L}\p{N}\p{M} ,./_·×≤□✗◇↩…-]/gu,
    (character) => `#${character.codePointAt(0)};`,
  );

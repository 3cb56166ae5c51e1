import { count, wrap } from '../../messages/index.ts';
import type { Output } from '../io.ts';
import { type Format, renderLine, type Span } from '../paint.ts';
import type { Card, Check, Graph, Mark, Phase } from './model.ts';

interface Signs {
  action: string;
  loop: string;
  ralph: string;
  subStep: string;
  line: string;
  dashed: string;
  open: string;
  close: string;
  gate: string;
  review: string;
  failure: string;
  limit: string;
  back: string;
  times: string;
  dot: string;
  ellipsis: string;
}

const unicode: Signs = {
  action: '●',
  loop: '↻',
  ralph: '◎',
  subStep: '○',
  line: '│',
  dashed: '┆',
  open: '├─╮',
  close: '├─╯',
  gate: '✓',
  review: '◇',
  failure: '✗',
  limit: '≤',
  back: '↩',
  times: '×',
  dot: '·',
  ellipsis: '…',
};

const ascii: Signs = {
  action: '*',
  loop: '@',
  ralph: '%',
  subStep: 'o',
  line: '|',
  dashed: ':',
  open: '|-\\',
  close: '|-/',
  gate: '+',
  review: '?',
  failure: '!',
  limit: '<=',
  back: '<-',
  times: 'x',
  dot: '-',
  ellipsis: '...',
};

const colours: Record<Phase['type'], Format> = { action: 'blue', loop: 'magenta', ralph: 'yellow' };

/** The workflow as a spine of steps, in the manner of `git log --graph`; ends with a newline. */
export function drawTree(graph: Graph, output: Output, hasUnicode: boolean): string {
  const signs = hasUnicode ? unicode : ascii;
  const lines: Span[][] = [
    [
      ['bold', graph.name],
      '  ',
      ['dim', [graph.type, count(graph.phases.length, 'phase'), ...graph.facts].join(` ${signs.dot} `)],
    ],
    ...wrap(graph.description, Math.min(output.columns ?? 100, 100)).map((line): Span[] => [line]),
    [],
    ...graph.phases.flatMap((phase, index) => phaseLines(graph, phase, index, signs)),
  ];
  return lines.map((line) => `${renderLine(line, output, signs.ellipsis)}\n`).join('');
}

function phaseLines(graph: Graph, phase: Phase, index: number, signs: Signs): Span[][] {
  const last = index === graph.phases.length - 1;
  const inLoop = phase.subSteps.length > 0;
  const spine: Span = last && !inLoop ? ' ' : ['dim', signs.line];
  const details = [...cardDetails(phase, signs), ...phaseDetails(graph, phase, index, signs)];
  const lines: Span[][] = [
    ...(index > 0 && !phase.before ? [[['dim', signs.line]] satisfies Span[]] : []),
    ...markLines(phase.before, signs),
    [
      [colours[phase.type], signs[phase.type]],
      ' ',
      ['bold', phase.id],
      ...kind(phase, signs),
      ...agentSpans(phase, signs),
    ],
    ...details.map((line) => [spine, ' ', ...line]),
  ];
  if (!inLoop) return lines;
  return [...lines, ...loopLines(phase, last, signs)];
}

function loopLines(phase: Phase, last: boolean, signs: Signs): Span[][] {
  const outer: Span = ['dim', signs.line];
  const inner = phase.subSteps.flatMap((sub) => [
    ...markLines(sub.before, signs),
    [['magenta', signs.subStep], ' ', ['bold', sub.id], ...agentSpans(sub, signs)] satisfies Span[],
    ...cardDetails(sub, signs).map((line): Span[] => [['dim', signs.line], ' ', ...line]),
  ]);
  const close = last ? signs.close.replace(/^├/, '╰').replace(/^\|/, '`') : signs.close;
  return [
    [['dim', signs.open]],
    ...inner.map((line): Span[] => [outer, ' ', ...line]),
    [['dim', close], ' ', ['magenta', 'next task']],
  ];
}

function kind(phase: Phase, signs: Signs): Span[] {
  const dot = ` ${signs.dot} `;
  if (phase.type === 'action') return [['dim', '  action']];
  if (phase.type === 'loop') {
    const tasks = phase.parallel > 1 ? `each task${dot}${signs.times}${phase.parallel}` : 'each task';
    return [
      ['dim', '  loop'],
      ['magenta', `${dot}${tasks}`],
    ];
  }
  const [until, ...more] = phase.until;
  const early: Span[] = until && more.length === 0 ? [' until ', ['green', until.text]] : [];
  return [['dim', '  ralph'], ['yellow', `${dot}${signs.limit}${phase.rounds}`], ...early];
}

const agentSpans = (card: Card, signs: Signs): Span[] =>
  card.agent === undefined
    ? []
    : [
        ['dim', ` ${signs.dot} `],
        ['cyan', card.agent],
      ];

const markLines = (mark: Mark | undefined, signs: Signs): Span[][] =>
  mark ? [[['cyan', `${signs.dashed} ${mark.command}${mark.eachRound ? ' before each round' : ''}`]]] : [];

function cardDetails(card: Card, signs: Signs): Span[][] {
  const flags = [...(card.readOnly ? ['read only'] : []), ...(card.artefacts ? ['artefacts'] : [])];
  return [
    ...(card.about === '' ? [] : [[['dim', card.about]] satisfies Span[]]),
    ...(flags.length > 0 ? [[['dim', flags.join(` ${signs.dot} `)]] satisfies Span[]] : []),
    ...card.gates.map((gate) => gateLine(gate, signs)),
    ...(card.failure === undefined ? [] : [[['red', signs.failure], ` ${card.failure}`] satisfies Span[]]),
  ];
}

const gateLine = (gate: Check, signs: Signs): Span[] => [['green', signs.gate], ' ', gate.text];

function phaseDetails(graph: Graph, phase: Phase, index: number, signs: Signs): Span[][] {
  const pivot = (cause: 'review' | 'budget'): Span[] => {
    const target = graph.pivots.find(({ from, causes }) => from === index && causes.includes(cause))?.to;
    const id = target === undefined ? undefined : graph.phases[target]?.id;
    return id === undefined ? [] : ['  ', ['red', `${signs.back} ${id}`]];
  };
  const lines: Span[][] = [];
  if (phase.until.length > 1) {
    for (const [nth, { text }] of phase.until.entries()) {
      lines.push([
        ['yellow', nth === 0 ? 'until ' : '  and '],
        ['green', text],
      ]);
    }
  }
  if (phase.review !== undefined) {
    lines.push([['magenta', signs.review], ` review by ${phase.review}`, ...pivot('review')]);
  }
  if (phase.budget !== undefined) {
    lines.push([['yellow', signs.limit], ` ${phase.budget.join(` ${signs.dot} `)}`, ...pivot('budget')]);
  }
  return lines;
}

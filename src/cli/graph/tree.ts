import { count, wrap } from '../../messages/index.ts';
import type { Card, CheckText, Graph, Mark, Phase } from '../../runtime/index.ts';
import type { Output } from '../io.ts';
import { type Format, renderLine, type Span } from '../paint.ts';

interface Symbols {
  run: string;
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

const unicode: Symbols = {
  action: '●',
  loop: '↻',
  ralph: '◎',
  run: '▸',
  subStep: '○',
  line: '│',
  dashed: '┆',
  open: '├─╮',
  close: '├─╯',
  gate: '□',
  review: '◇',
  failure: '✗',
  limit: '≤',
  back: '↩',
  times: '×',
  dot: '·',
  ellipsis: '…',
};

const ascii: Symbols = {
  action: '*',
  loop: '@',
  ralph: '%',
  run: '$',
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

const colours: Record<Phase['type'], Format> = {
  action: 'blue',
  loop: 'magenta',
  ralph: 'yellow',
  run: 'green',
};

/** The workflow as a spine of steps, in the manner of `git log --graph`; ends with a newline. */
export function drawTree(graph: Graph, output: Output, hasUnicode: boolean): string {
  const symbols = hasUnicode ? unicode : ascii;
  const lines: Span[][] = [
    [
      ['bold', graph.name],
      '  ',
      ['dim', [graph.type, count(graph.phases.length, 'phase'), ...graph.facts].join(` ${symbols.dot} `)],
    ],
    ...wrap(graph.description, Math.min(output.columns ?? 100, 100)).map((line): Span[] => [line]),
    [],
    ...graph.phases.flatMap((phase, index) => phaseLines(graph, phase, index, symbols)),
  ];
  return lines.map((line) => `${renderLine(line, output, symbols.ellipsis)}\n`).join('');
}

function phaseLines(graph: Graph, phase: Phase, index: number, symbols: Symbols): Span[][] {
  const last = index === graph.phases.length - 1;
  const inLoop = phase.subSteps.length > 0;
  const spine: Span = last && !inLoop ? ' ' : ['dim', symbols.line];
  const details = [...cardDetails(phase, symbols), ...phaseDetails(graph, phase, index, symbols)];
  const lines: Span[][] = [
    ...(index > 0 && !phase.before ? [[['dim', symbols.line]] satisfies Span[]] : []),
    ...markLines(phase.before, symbols),
    [
      [colours[phase.type], symbols[phase.type]],
      ' ',
      ...nameSpans(phase),
      ...kind(phase, symbols),
      ...agentSpans(phase, symbols),
    ],
    ...details.map((line) => [spine, ' ', ...line]),
  ];
  if (!inLoop) return lines;
  return [...lines, ...loopLines(phase, last, symbols)];
}

function loopLines(phase: Phase, last: boolean, symbols: Symbols): Span[][] {
  const outer: Span = ['dim', symbols.line];
  const inner = phase.subSteps.flatMap((sub) => [
    ...markLines(sub.before, symbols),
    [['magenta', symbols.subStep], ' ', ...nameSpans(sub), ...agentSpans(sub, symbols)] satisfies Span[],
    ...cardDetails(sub, symbols).map((line): Span[] => [['dim', symbols.line], ' ', ...line]),
  ]);
  const close = last ? symbols.close.replace(/^├/, '╰').replace(/^\|/, '`') : symbols.close;
  return [
    [['dim', symbols.open]],
    ...inner.map((line): Span[] => [outer, ' ', ...line]),
    [['dim', close], ' ', ['magenta', 'next task']],
  ];
}

function kind(phase: Phase, symbols: Symbols): Span[] {
  const dot = ` ${symbols.dot} `;
  if (phase.type === 'action' || phase.type === 'run') return [['dim', `  ${phase.type}`]];
  if (phase.type === 'loop') {
    const from = phase.tasks === undefined ? '' : `${dot}${phase.tasks}`;
    const tasks = phase.parallel > 1 ? `each task${dot}${symbols.times}${phase.parallel}` : 'each task';
    return [
      ['dim', '  loop'],
      ['magenta', `${dot}${tasks}`],
      ['dim', from],
    ];
  }
  const [until, ...more] = phase.until;
  const early: Span[] = until && more.length === 0 ? [' until ', ['bold', until.text]] : [];
  return [['dim', '  ralph'], ['yellow', `${dot}${symbols.limit}${phase.rounds}`], ...early];
}

const nameSpans = ({ id, title }: Card): Span[] =>
  title === undefined
    ? [['bold', id]]
    : [
        ['bold', title],
        ['dim', ` (${id})`],
      ];

const agentSpans = (card: Card, symbols: Symbols): Span[] =>
  card.agent === undefined
    ? []
    : [
        ['dim', ` ${symbols.dot} `],
        ['cyan', card.agent],
      ];

const markLines = (mark: Mark | undefined, symbols: Symbols): Span[][] =>
  mark ? [[['cyan', `${symbols.dashed} ${mark.command}${mark.eachRound ? ' before each round' : ''}`]]] : [];

function cardDetails(card: Card, symbols: Symbols): Span[][] {
  const flags = [...(card.readOnly ? ['read only'] : []), ...(card.artefacts ? ['artefacts'] : [])];
  return [
    ...(card.when === undefined ? [] : [[['dim', 'if'], ` ${card.when}`] satisfies Span[]]),
    ...(card.about === '' ? [] : [[['dim', card.about]] satisfies Span[]]),
    ...(flags.length > 0 ? [[['dim', flags.join(` ${symbols.dot} `)]] satisfies Span[]] : []),
    ...card.gates.map((gate) => gateLine(gate, symbols)),
    ...(card.failure === undefined ? [] : [[['red', symbols.failure], ` ${card.failure}`] satisfies Span[]]),
  ];
}

const gateLine = (gate: CheckText, symbols: Symbols): Span[] => [['dim', symbols.gate], ' ', gate.text];

function phaseDetails(graph: Graph, phase: Phase, index: number, symbols: Symbols): Span[][] {
  const pivot = (cause: 'review' | 'budget'): Span[] => {
    const target = graph.pivots.find(({ from, causes }) => from === index && causes.includes(cause))?.to;
    const id = target === undefined ? undefined : graph.phases[target]?.id;
    return id === undefined ? [] : ['  ', ['red', `${symbols.back} ${id}`]];
  };
  const lines: Span[][] = [];
  if (phase.until.length > 1) {
    for (const [nth, { text }] of phase.until.entries()) {
      lines.push([
        ['yellow', nth === 0 ? 'until ' : '  and '],
        ['bold', text],
      ]);
    }
  }
  if (phase.review !== undefined) {
    lines.push([['magenta', symbols.review], ` review by ${phase.review}`, ...pivot('review')]);
  }
  if (phase.budget !== undefined) {
    lines.push([['yellow', symbols.limit], ` ${phase.budget.join(` ${symbols.dot} `)}`, ...pivot('budget')]);
  }
  return lines;
}

import { count } from '../../messages/index.ts';
import type { Graph } from '../../runtime/index.ts';
import { arrowDown, phaseBlock, stack } from './svg/flow.ts';
import { type Block, escapeXml, group, paragraph, px, rect, type Shape, text, toXml } from './svg/shapes.ts';
import { pivotSide, roundSide } from './svg/sides.ts';
import { styleSheet } from './svg/theme.ts';

const margin = 28;
const cardWidth = 480;

export interface Drawing {
  width: number;
  height: number;
  shapes: Shape[];
}

/** A self-contained, deterministic SVG of the workflow: no scripts, no external resources, light and dark colors. */
export function drawSvg(graph: Graph): string {
  const { width, height, shapes } = layOut(graph);
  const slug = graph.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const steps = graph.phases.map(({ id, title }) => title ?? id).join(', ');
  const about = `${graph.description}${graph.description === '' ? '' : ' '}${count(graph.phases.length, 'phase')}: ${steps}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="stepfast" width="${px(width)}" height="${px(height)}" viewBox="0 0 ${px(width)} ${px(height)}" role="img" aria-labelledby="stepfast-${slug}-title stepfast-${slug}-desc">
  <title id="stepfast-${slug}-title">Workflow ${escapeXml(graph.name)}</title>
  <desc id="stepfast-${slug}-desc">${escapeXml(about)}</desc>
  <style>
${styleSheet()}
  </style>
${toXml(shapes)}</svg>
`;
}

export function layOut(graph: Graph): Drawing {
  const left = pivotSide(graph);
  const right = roundSide(graph);
  const head = header(graph, cardWidth + right.width);
  const flow = stack(
    graph.phases.map((phase) => ({ before: phase.before, block: phaseBlock(phase, cardWidth) })),
    cardWidth,
    'dot',
  );
  const x = margin + left.width;
  const top = margin + head.height + 20;
  const width = x + cardWidth + right.width + margin;
  const height = top + flow.height + 36 + margin;
  const middle = cardWidth / 2;
  return {
    width,
    height,
    shapes: [
      rect(0.5, 0.5, width - 1, height - 1, 16, 'fill-canvas line-rule thin'),
      group(x, margin, head.shapes),
      group(x, top, [
        ...flow.shapes,
        ...arrowDown(middle, flow.height, 22),
        rect(middle - 7, flow.height + 24, 14, 14, 7, 'stroke line-flow'),
        rect(middle - 3.5, flow.height + 27.5, 7, 7, 3.5, 'fill-flow'),
      ]),
      group(x, top, left.draw(flow.slots)),
      group(x + cardWidth, top, right.draw(flow.slots)),
    ],
  };
}

function header(graph: Graph, width: number): Block {
  const tail = { text: graph.type, font: 'kind', look: 'fill-muted', gap: 10 } as const;
  const shapes: Shape[] = [text({ x: 0, y: 20, room: width }, graph.name, 'name', 'fill-ink', tail)];
  let bottom = 26;
  const place = { x: 0, y: bottom + 16, room: width, lineHeight: 19, most: 3 };
  const description = paragraph(place, graph.description, 'description', 'fill-muted');
  shapes.push(...description.shapes);
  bottom += description.height;
  if (graph.facts.length > 0) {
    shapes.push(text({ x: 0, y: bottom + 19, room: width }, graph.facts.join(' · '), 'kind', 'fill-muted'));
    bottom += 22;
  }
  return { height: bottom, shapes };
}

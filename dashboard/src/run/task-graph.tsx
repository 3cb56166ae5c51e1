import dagre from '@dagrejs/dagre';
import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { Maximize } from 'lucide-react';
import { type JSX, memo, useMemo } from 'react';
import type { TaskPage } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { Glyph } from '../ui/glyph.tsx';
import ui from '../ui/ui.module.css';
import css from './task-graph.module.css';
import { taskHint, taskMark, waitsFor } from './task-hint.ts';
import { SubSteps, type TasksProps } from './task-list.tsx';

interface Point {
  x: number;
  y: number;
}
type TaskNode = Node<{ task: TaskPage; hint: string; isPlain: boolean }, 'task'>;
type Dependency = Edge<{ points: Point[] }, 'dependency'>;

const size = { width: 210, height: 72 };

/** Left to right, in the order of dependencies. */
function layout(tasks: TaskPage[]): { nodes: TaskNode[]; edges: Dependency[]; height: number } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 40, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(tasks.map(({ id }) => id));
  const pairs = tasks.flatMap((task) =>
    task.dependsOn.filter((id) => ids.has(id)).map((before) => ({ before, task })),
  );
  for (const id of ids) graph.setNode(id, { ...size });
  for (const { before, task } of pairs) graph.setEdge(before, task.id);
  dagre.layout(graph);
  // Dagre's labels are untyped.
  const { height = 0 } = graph.graph() as { height?: number };
  const nodes = tasks.map((task): TaskNode => {
    const hint = taskHint(task, tasks);
    // What is done needs no second line, and of what waits the arrows say it.
    const isPlain =
      (task.tone === 'done' || (task.tone === 'ahead' && waitsFor(task, tasks).length > 0)) && !task.merge;
    const { x, y } = graph.node(task.id) as Point;
    return {
      id: task.id,
      type: 'task',
      ...size,
      position: { x: x - size.width / 2, y: y - size.height / 2 },
      data: { task, hint, isPlain },
      ariaLabel: `${task.title}: ${hint}`,
    };
  });
  const edges = pairs.map(
    ({ before, task }): Dependency => ({
      id: `${before} ${task.id}`,
      type: 'dependency',
      source: before,
      target: task.id,
      className: (task.tone === 'ahead' && css.later) || '',
      data: { points: (graph.edge(before, task.id) as { points: Point[] }).points },
    }),
  );
  return { nodes, edges, height };
}

const TaskBox = memo(function TaskBox({ data }: NodeProps<TaskNode>): JSX.Element {
  const { task, hint, isPlain } = data;
  return (
    <div className={css.node} data-mark={taskMark(task)}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
      <Glyph mark={taskMark(task)} isQuiet />
      <div>
        <strong title={task.title}>{task.title}</strong>
        {!isPlain && <span className={ui.cut}>{hint}</span>}
      </div>
      <div className={css.subSteps}>
        <SubSteps task={task} />
      </div>
    </div>
  );
});

/** Along the points of the layout: React Flow's own lines would cross boxes. */
function DependencyLine({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<Dependency>): JSX.Element {
  const between = data && data.points.length > 3 ? data.points.slice(1, -1) : [];
  let from = { x: sourceX, y: sourceY };
  let path = `M${from.x},${from.y}`;
  for (const to of [...between, { x: targetX, y: targetY }]) {
    const middle = (from.x + to.x) / 2;
    path += `C${middle},${from.y} ${middle},${to.y} ${to.x},${to.y}`;
    from = to;
  }
  return <BaseEdge path={path} />;
}

const nodeTypes = { task: TaskBox };
const edgeTypes = { dependency: DependencyLine };
const fit = {
  padding: { top: '20px', bottom: '20px', left: '24px', right: '24px' },
  maxZoom: 1,
  minZoom: 0.65,
} as const;

function Flow({ tasks, onOpen }: TasksProps): JSX.Element {
  const { nodes, edges, height } = useMemo(() => layout(tasks), [tasks]);
  const flow = useReactFlow();
  return (
    <div className={css.flow} style={{ minHeight: Math.max(236, Math.min(460, height + 40)) }}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        fitView
        fitViewOptions={fit}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        zoomOnDoubleClick={false}
        minZoom={0.3}
        maxZoom={1.6}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => onOpen(node.id)}
        ariaLabelConfig={{ 'node.a11yDescription.default': 'Press enter to open it.' }}
      />
      <button
        type="button"
        className={classNames(ui.btn, ui.small, ui.icon, css.fit)}
        aria-label="Fit the graph"
        onClick={() => void flow.fitView(fit)}
      >
        <Maximize size={14} aria-hidden="true" />
      </button>
    </div>
  );
}

export default function TaskGraph(props: TasksProps): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

// Places the nodes of the map in columns from left to right, by dagre.

import { Graph, layout } from '@dagrejs/dagre';
import type { MapModel, MapNode } from './map-model.ts';

export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 46;

export interface Placed {
  readonly node: MapNode;
  readonly left: number;
  readonly top: number;
}

export interface Line {
  readonly from: string;
  readonly to: string;
  /** Of an SVG path. */
  readonly path: string;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Placed[];
  readonly lines: readonly Line[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export function layoutOf({ nodes, edges }: MapModel): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 10, ranksep: 56, edgesep: 6, marginx: 4, marginy: 4 });
  const columns = new Map(nodes.map(({ key, column }) => [key, column]));
  for (const { key } of nodes) graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) {
    graph.setEdge(from, to, { minlen: Math.max(1, (columns.get(to) ?? 0) - (columns.get(from) ?? 0)) });
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map((node) => {
      const { x = 0, y = 0 } = graph.node(node.key);
      return { node, left: x - NODE_WIDTH / 2, top: y - NODE_HEIGHT / 2 };
    }),
    lines: edges.map(({ from, to }) => ({ from, to, path: pathOf(graph.edge(from, to).points ?? []) })),
  };
}

/** Smooth: through the middle of each two points, bent at the points. */
function pathOf(points: readonly Point[]): string {
  const [first, ...others] = points;
  const last = others.at(-1);
  if (first === undefined || last === undefined) return '';
  const bends = others.slice(0, -1).map((point, index) => {
    const next = others[index + 1] ?? last;
    return `Q${text(point)} ${text({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `M${text(first)}${bends.join('')}L${text(last)}`;
}

function text({ x, y }: Point): string {
  return `${Math.round(x)} ${Math.round(y)}`;
}

// Places the nodes of the map in columns from left to right, by dagre.

import { Graph, layout } from '@dagrejs/dagre';
import type { MapModel, MapNode } from './map-model.ts';

export const NODE_WIDTH = 192;
export const NODE_HEIGHT = 46;

export interface Placed {
  readonly node: MapNode;
  readonly left: number;
  readonly top: number;
}

interface Line {
  readonly from: string;
  readonly to: string;
  /** Path data of an SVG path. */
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
  graph.setGraph({ rankdir: 'LR', nodesep: 10, ranksep: 42, edgesep: 6, marginx: 4, marginy: 4 });
  const columns = new Map(nodes.map(({ key, column }) => [key, column]));
  for (const { key } of nodes) graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) {
    graph.setEdge(from, to, { minlen: Math.max(1, (columns.get(to) ?? 0) - (columns.get(from) ?? 0)) });
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const at = (key: string): Point => ({ x: 0, y: 0, ...graph.node(key) });
  return {
    width,
    height,
    nodes: nodes.map((node) => {
      const { x, y } = at(node.key);
      return { node, left: x - NODE_WIDTH / 2, top: y - NODE_HEIGHT / 2 };
    }),
    lines: edges.map(({ from, to }) => {
      const [start, end] = [at(from), at(to)];
      const isNext = (columns.get(to) ?? 0) - (columns.get(from) ?? 0) <= 1;
      const bends = isNext ? [] : (graph.edge(from, to).points ?? []).slice(1, -1);
      const first = { x: start.x + NODE_WIDTH / 2, y: start.y };
      return { from, to, path: curveThrough(first, bends, { x: end.x - NODE_WIDTH / 2, y: end.y }) };
    }),
  };
}

/** Draws an edge that leaves and enters nodes in the middle of a side, and keeps to the bends between the nodes. */
function curveThrough(first: Point, bends: readonly Point[], last: Point): string {
  const points = [first, ...bends.filter(({ x }) => x > first.x && x < last.x), last];
  const curves = points.slice(1).map((point, index) => {
    const before = points[index] ?? first;
    const middle = (before.x + point.x) / 2;
    return `C${pointText({ x: middle, y: before.y })} ${pointText({ x: middle, y: point.y })} ${pointText(point)}`;
  });
  return `M${pointText(first)}${curves.join('')}`;
}

function pointText({ x, y }: Point): string {
  return `${Math.round(x)} ${Math.round(y)}`;
}

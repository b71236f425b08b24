// Draws a workflow as a graph: a row for steps that may start together, a line from each step to the steps that wait for
// it.

import { h } from 'preact';
import type { Step } from './document.ts';
import { levelsOf } from './levels.ts';

const BOX = { width: 170, height: 46 } as const;
const GAP = { x: 20, y: 34 } as const;
const EDGE = 8;
const CHARACTERS_MAX = 20;

interface Placed {
  readonly step: Step;
  readonly x: number;
  readonly y: number;
}

export function WorkflowGraph({ steps }: { readonly steps: readonly Step[] }) {
  const levels = levelsOf(steps);
  const rows = [...Map.groupBy(steps, ({ id }) => levels.get(id) ?? 0).entries()].toSorted(([a], [b]) => a - b);
  const placed = new Map(
    rows.flatMap(([level, row]) =>
      row.map((step, column): [string, Placed] => {
        const [x, y] = [EDGE + column * (BOX.width + GAP.x), EDGE + level * (BOX.height + GAP.y)];
        return [step.id, { step, x, y }];
      }),
    ),
  );
  const columns = Math.max(1, ...rows.map(([, row]) => row.length));
  const width = 2 * EDGE + columns * (BOX.width + GAP.x) - GAP.x;
  const height = 2 * EDGE + rows.length * (BOX.height + GAP.y) - GAP.y;
  const all = [...placed.values()];
  const lines = all.flatMap((to) =>
    to.step.depends_on.flatMap((id) => {
      const from = placed.get(id);
      return from === undefined ? [] : [h(Line, { key: `${id} ${to.step.id}`, from, to })];
    }),
  );
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return h(
    'svg',
    { ...size, class: 'workflow', role: 'img', 'aria-label': sentenceOf(steps) },
    lines,
    all.map((each) => h(Box, { key: each.step.id, placed: each })),
  );
}

function Line({ from, to }: { readonly from: Placed; readonly to: Placed }) {
  const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
  const [x2, y2] = [to.x + BOX.width / 2, to.y];
  const middle = (y1 + y2) / 2;
  return h('path', { class: 'line', d: `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` });
}

function Box({ placed: { step, x, y } }: { readonly placed: Placed }) {
  const { id, type, tool, conditional, missing } = step;
  const what = `${type === 'elicitation' ? 'asks a person' : (tool ?? '')}${type === 'forEach' ? ' for each' : ''}`;
  const look = ['box', ...(conditional ? ['conditional'] : []), ...(missing === true ? ['missing'] : [])].join(' ');
  return h(
    'g',
    null,
    h('title', null, `${id}: ${what}${conditional ? ', on a condition' : ''}`),
    h('rect', { class: look, x, y, ...BOX, rx: 8 }),
    h('text', { class: 'id', x: x + 10, y: y + 19 }, shortened(id)),
    h('text', { class: 'what', x: x + 10, y: y + 36 }, shortened(what)),
  );
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= CHARACTERS_MAX ? text : `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…`;
}

/** Describes the graph for people who cannot see it. */
function sentenceOf(steps: readonly Step[]): string {
  return steps
    .map(({ id, depends_on: before }) =>
      before.length === 0 ? `${id} starts at once` : `${id} after ${before.join(' and ')}`,
    )
    .join('; ');
}

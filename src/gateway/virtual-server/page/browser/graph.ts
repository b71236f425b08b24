// Draws workflows as graphs: one row for steps that may start together, and a line from each step to the steps that
// depend on it.

import { element } from '#std/page/shared/elements.ts';
import type { Workflow, WorkflowStepView } from './api.ts';
import { drawing, named } from './dom.ts';
import { levelsOf } from './levels.ts';

const BOX = { width: 170, height: 46 } as const;
const GAP = { x: 20, y: 34 } as const;
const EDGE = 8;
const CHARACTERS_MAX = 20;

interface StepPosition {
  readonly step: WorkflowStepView;
  readonly x: number;
  readonly y: number;
}

export function workflowsView(workflows: readonly Workflow[]): HTMLElement | undefined {
  if (workflows.length === 0) return undefined;
  return element('section', {}, element('h2', {}, 'Workflows'), ...workflows.map(workflowView));
}

function workflowView({ name, description, shown, steps }: Workflow): HTMLElement {
  const missing = steps.filter((step) => step.missing === true);
  return element(
    'article',
    { class: 'workflow' },
    element('h3', {}, named(name)),
    description === undefined ? undefined : element('p', { class: 'text' }, description),
    shown ? undefined : element('p', { class: 'problem' }, 'Clients do not see it.'),
    ...missing.map(({ id, tool = '' }) =>
      element('p', { class: 'problem text' }, `Step ${id}: there is no tool `, named(tool)),
    ),
    element('div', { class: 'graph', tabindex: '0', role: 'group', 'aria-label': `Steps of ${name}` }, graphOf(steps)),
  );
}

function graphOf(steps: readonly WorkflowStepView[]): SVGElement {
  const levels = levelsOf(steps);
  const rows = [...Map.groupBy(steps, ({ id }) => levels.get(id) ?? 0).entries()].toSorted(([a], [b]) => a - b);
  const placed = new Map(
    rows.flatMap(([level, row]) =>
      row.map((step, column): [string, StepPosition] => {
        const [x, y] = [EDGE + column * (BOX.width + GAP.x), EDGE + level * (BOX.height + GAP.y)];
        return [step.id, { step, x, y }];
      }),
    ),
  );
  const columns = Math.max(1, ...rows.map(([, row]) => row.length));
  const width = 2 * EDGE + columns * (BOX.width + GAP.x) - GAP.x;
  const height = 2 * EDGE + rows.length * (BOX.height + GAP.y) - GAP.y;
  const size = { width: String(width), height: String(height), viewBox: `0 0 ${width} ${height}` };
  const lines = [...placed.values()].flatMap((to) =>
    to.step.depends_on.flatMap((id) => {
      const from = placed.get(id);
      return from === undefined ? [] : [lineBetween(from, to)];
    }),
  );
  const boxes = [...placed.values()].map(boxOf);
  return drawing('svg', { ...size, role: 'img', 'aria-label': sentenceOf(steps) }, ...lines, ...boxes);
}

function lineBetween(from: StepPosition, to: StepPosition): SVGElement {
  const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
  const [x2, y2] = [to.x + BOX.width / 2, to.y];
  const middle = (y1 + y2) / 2;
  return drawing('path', { class: 'line', d: `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` });
}

function boxOf({ step, x, y }: StepPosition): SVGElement {
  const { id, type, tool, conditional, missing } = step;
  const what = `${type === 'elicitation' ? 'asks a person' : (tool ?? '')}${type === 'forEach' ? ' for each' : ''}`;
  const size = { x: String(x), y: String(y), width: String(BOX.width), height: String(BOX.height), rx: '8' };
  const look = ['box', ...(conditional ? ['conditional'] : []), ...(missing === true ? ['missing'] : [])].join(' ');
  const left = String(x + 10);
  return drawing(
    'g',
    {},
    drawing('title', {}, `${id}: ${what}${conditional ? ', on a condition' : ''}`),
    drawing('rect', { class: look, ...size }),
    drawing('text', { class: 'id', x: left, y: String(y + 19) }, shortened(id)),
    drawing('text', { class: 'what', x: left, y: String(y + 36) }, shortened(what)),
  );
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= CHARACTERS_MAX ? text : `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…`;
}

/** Describes the graph in words for screen readers. */
function sentenceOf(steps: readonly WorkflowStepView[]): string {
  return steps
    .map(({ id, depends_on }) =>
      depends_on.length === 0 ? `${id} starts at once` : `${id} after ${depends_on.join(' and ')}`,
    )
    .join('; ');
}

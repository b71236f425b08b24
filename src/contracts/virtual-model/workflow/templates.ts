// Finds the templates of a workflow, and checks whether they are valid.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { TemplateNode } from '../template/nodes.ts';
import { parseTemplate } from '../template/parse.ts';
import { readsOf, type TemplateRead } from '../template/reads.ts';
import { problem, type Workflow, type WorkflowFinding, type WorkflowStep, warning } from './workflow.ts';

/** A template of a workflow. */
export interface Expression {
  readonly text: string;
  readonly pointer: string;
  /** The type that the result must have. */
  readonly gives: 'text' | 'condition' | 'list';
  /** The step of the template. Not set for templates of the workflow's output. */
  readonly step?: WorkflowStep;
  /** The name of the item. Set for templates of the step inside a loop. */
  readonly item?: string;
}

export interface ReadExpression extends Expression {
  readonly reads: readonly TemplateRead[];
}

/** `pointer`: pointer of the workflow. */
export function expressionsOf({ steps, output }: Workflow, pointer: string): readonly Expression[] {
  const ofSteps = steps.flatMap((step, index) => stepExpressions(step, `${pointer}/steps/${index}`));
  const properties = output?.properties ?? {};
  return [...ofSteps, ...outputExpressions(properties, `${pointer}/output/properties`)];
}

function stepExpressions(step: WorkflowStep, pointer: string): readonly Expression[] {
  const inner = step.step;
  const item = step.itemVar ?? 'item';
  return [
    ...ofText(step.condition, { pointer: `${pointer}/condition`, gives: 'condition', step }),
    ...argumentExpressions(step.arguments, { pointer: `${pointer}/arguments`, gives: 'text', step }),
    ...ofText(step.message, { pointer: `${pointer}/message`, gives: 'text', step }),
    ...ofText(step.collection, { pointer: `${pointer}/collection`, gives: 'list', step }),
    ...ofText(inner?.condition, { pointer: `${pointer}/step/condition`, gives: 'condition', step, item }),
    ...argumentExpressions(inner?.arguments, { pointer: `${pointer}/step/arguments`, gives: 'text', step, item }),
  ];
}

type Surroundings = Omit<Expression, 'text'>;

function ofText(text: Json | undefined, surroundings: Surroundings): readonly Expression[] {
  return typeof text === 'string' ? [{ text, ...surroundings }] : [];
}

/** Returns the templates in the arguments of a tool. Texts inside lists and mappings are not templates. */
function argumentExpressions(values: JsonObject | undefined, surroundings: Surroundings): readonly Expression[] {
  return Object.entries(values ?? {}).flatMap(([name, value]) =>
    ofText(value, { ...surroundings, pointer: `${surroundings.pointer}/${pointerToken(name)}` }),
  );
}

function outputExpressions(properties: Readonly<Record<string, unknown>>, pointer: string): readonly Expression[] {
  return Object.entries(properties).flatMap(([name, property]): readonly Expression[] => {
    if (!isObject(property)) return [];
    const at = `${pointer}/${pointerToken(name)}`;
    const nested = isObject(property.properties) ? outputExpressions(property.properties, `${at}/properties`) : [];
    return [...ofText(property.value, { pointer: `${at}/value`, gives: 'text' }), ...nested];
  });
}

/** Returns the values that the template reads, or a finding if the template is invalid. */
export function readExpression(expression: Expression): ReadExpression | WorkflowFinding {
  const { text, pointer, gives } = expression;
  const parsed = parseTemplate(text);
  if ('fault' in parsed) {
    const { message, at } = parsed.fault;
    return problem('workflow-template-invalid', pointer, `not a valid Go template, at ${place(text, at)}: ${message}`);
  }
  const { values, undefinedCalls } = readsOf(parsed.template);
  const [call] = undefinedCalls;
  if (call !== undefined) {
    const message = `not a valid Go template, at ${place(text, call.at)}: the template ${call.name} is not defined`;
    return problem('workflow-template-invalid', pointer, message);
  }
  const fault = constantFault(gives, text, parsed.template.nodes);
  return fault === undefined
    ? { ...expression, reads: values }
    : problem('workflow-expression-invalid', pointer, fault);
}

/** Returns line and column, both counted from 1. */
export function place(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return text.includes('\n') ? `line ${before.length}, character ${column}` : `character ${column}`;
}

const TRUTHS = ['true', 'True', 'TRUE', 'false', 'False', 'FALSE'];

/** Returns a message if the text outside of `{{ }}` makes all results of the template invalid. */
function constantFault(gives: Expression['gives'], text: string, nodes: readonly TemplateNode[]): string | undefined {
  const plain = nodes.every(({ type }) => type === 'text');
  const mixed = !plain && nodes.some((node) => node.type === 'text' && node.text.trim() !== '');
  if (gives === 'condition') {
    if (mixed)
      return 'must result in true or false, but has text around its {{ }}: compare inside them, as {{eq .a "b"}}';
    if (plain && !TRUTHS.includes(text.trim())) return 'must result in true or false: put the expression into {{ }}';
  }
  if (gives === 'list' && plain && !isJsonList(text)) {
    return 'must result in a JSON list: put the expression into {{ }}, as {{json .steps.a.output.items}}';
  }
  return undefined;
}

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Reports texts inside lists and mappings that look like templates, because they are not expanded. */
export function deepFindings({ steps }: Workflow, pointer: string): readonly WorkflowFinding[] {
  return steps.flatMap((step, index) => {
    const at = `${pointer}/steps/${index}`;
    return [
      ...deepIn(step.arguments, `${at}/arguments`, 0),
      ...deepIn(step.step?.arguments, `${at}/step/arguments`, 0),
    ];
  });
}

function deepIn(value: Json | undefined, pointer: string, depth: number): readonly WorkflowFinding[] {
  if (typeof value === 'string' && depth > 1 && value.includes('{{')) {
    const message = 'is not expanded: only texts at the first level of arguments are templates';
    return [warning('workflow-setting-unused', pointer, message)];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => deepIn(item, `${pointer}/${pointerToken(key)}`, depth + 1));
}

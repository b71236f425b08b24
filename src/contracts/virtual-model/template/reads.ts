// Finds the values that a Go template reads, without running it. Follows `with`, variables, `index` with literal keys,
// and called templates. Items of loops and results of other functions are unknown.

import type { Branch, Command, Operand, Pipeline, Template, TemplateNode } from './nodes.ts';

/** A value that the template reads. `.steps.a.output` is `['steps', 'a', 'output']`. */
export interface TemplateRead {
  readonly path: readonly string[];
  /** UTF-16 index into the template. */
  readonly at: number;
}

export interface Reads {
  readonly values: readonly TemplateRead[];
  /** Calls of templates that are not defined. Running such a call is an error. */
  readonly undefinedCalls: readonly { readonly name: string; readonly at: number }[];
}

export function readsOf(template: Template): Reads {
  const values: TemplateRead[] = [];
  const undefinedCalls: Reads['undefinedCalls'][number][] = [];
  walkAll(
    { template, values, undefinedCalls, walked: new Set(), active: [], dot: [], variables: [{ name: '$', path: [] }] },
    template.nodes,
  );
  return { values, undefinedCalls };
}

/** Path of a value from the root of the data. Undefined if it is unknown. */
type Path = readonly string[] | undefined;

interface TemplateWalk {
  readonly template: Template;
  readonly values: TemplateRead[];
  readonly undefinedCalls: Reads['undefinedCalls'][number][];
  /**
   * Names of the templates around the current node. They are not walked again, because templates can call themselves.
   */
  readonly active: readonly string[];
  /** Name and argument of calls that were already walked. */
  readonly walked: Set<string>;
  readonly dot: Path;
  /** If several variables have the same name, the last one is used. */
  readonly variables: { readonly name: string; readonly path: Path }[];
}

function walkAll(walk: TemplateWalk, nodes: readonly TemplateNode[]): void {
  for (const node of nodes) walkNode(walk, node);
}

function walkNode(walk: TemplateWalk, node: TemplateNode): void {
  switch (node.type) {
    case 'text':
    case 'break':
    case 'continue':
      return;
    case 'action':
      walkPipeline(walk, node.pipeline);
      return;
    case 'template':
      walkCall(walk, node);
      return;
    default:
      walkBranch(walk, node);
  }
}

function walkBranch(walk: TemplateWalk, { type, pipeline, body, otherwise }: Branch): void {
  const outside = walk.variables.length;
  const path = walkPipeline(walk, pipeline, type === 'range');
  const dots: Readonly<Record<Branch['type'], Path>> = { if: walk.dot, with: path, range: undefined };
  const inside = walk.variables.length;
  walkAll({ ...walk, dot: dots[type] }, body);
  walk.variables.length = inside;
  walkAll(walk, otherwise);
  walk.variables.length = outside;
}

/**
 * Maximum number of walked calls. If each of n templates calls the next one twice, 2 to the power of n calls are
 * possible.
 */
const MAX_CALLS = 100;

function walkCall(walk: TemplateWalk, { name, pipeline, at }: Extract<TemplateNode, { type: 'template' }>): void {
  const dot = pipeline === undefined ? undefined : walkPipeline(walk, pipeline);
  const nodes = walk.template.definitions.get(name);
  const call = JSON.stringify([name, dot]);
  if (nodes === undefined) walk.undefinedCalls.push({ name, at });
  if (nodes === undefined || walk.active.includes(name) || walk.walked.has(call)) return;
  if (walk.walked.size >= MAX_CALLS) return;
  walk.walked.add(call);
  walkAll({ ...walk, active: [...walk.active, name], dot, variables: [{ name: '$', path: dot }] }, nodes);
}

/** Returns the path of the pipeline's value. The variables of a loop are its items, whose paths are unknown. */
function walkPipeline(walk: TemplateWalk, { variables, commands }: Pipeline, loop = false): Path {
  let path: Path;
  let piped: Operand | undefined;
  for (const command of commands) {
    path = walkCommand(walk, command, piped);
    // The result of a function is not a known key, so `nil` replaces it.
    piped = command.operands.length === 1 ? command.operands[0] : { type: 'nil', at: command.at };
  }
  for (const name of variables) walk.variables.push({ name, path: loop ? undefined : path });
  return path;
}

function walkCommand(walk: TemplateWalk, { operands }: Command, piped: Operand | undefined): Path {
  const [first, ...rest] = operands;
  const paths = operands.map((operand) => walkOperand(walk, operand));
  if (first?.type !== 'function') return rest.length === 0 && piped === undefined ? paths[0] : undefined;
  if (first.name !== 'index') return undefined;
  const [, ...keys] = piped === undefined ? rest : [...rest, piped];
  const container = rest.length === 0 ? undefined : paths[1];
  return extended(walk, container, keys.map(literal), first.at);
}

/** Returns undefined if the operand is not a literal text. */
function literal(operand: Operand): string | undefined {
  return operand.type === 'string' ? operand.value : undefined;
}

function walkOperand(walk: TemplateWalk, operand: Operand): Path {
  switch (operand.type) {
    case 'dot':
      return extended(walk, walk.dot, [], operand.at);
    case 'field':
      return extended(walk, walk.dot, operand.fields, operand.at);
    case 'variable': {
      const path = walk.variables.findLast(({ name }) => name === operand.name)?.path;
      return extended(walk, path, operand.fields, operand.at);
    }
    case 'pipeline':
      return walkPipeline(walk, operand.pipeline);
    case 'chain':
      return extended(walk, walkOperand(walk, operand.base), operand.fields, operand.at);
    default:
      return undefined;
  }
}

/** Records the path that begins with `from` and continues with the keys up to the first unknown key. */
function extended(walk: TemplateWalk, from: Path, keys: readonly (string | undefined)[], at: number): Path {
  if (from === undefined) return undefined;
  const known = keys.indexOf(undefined);
  const reached = known < 0 ? keys : keys.slice(0, known);
  const path = [...from, ...reached.filter((key) => key !== undefined)];
  walk.values.push({ path, at });
  return known < 0 ? path : undefined;
}

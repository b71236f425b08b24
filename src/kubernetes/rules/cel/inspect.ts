// Walks over a parsed expression: replaces calls of the engine's functions by calls of ours, and finds errors that only
// Kubernetes' compiler reports.

import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '#std/json.ts';
import { parseGoDuration } from '../formats/duration.ts';
import { parseTimestamp } from '../formats/timestamp.ts';
import { OURS } from './library/library.ts';
import { regexOf } from './library/regex.ts';
import { escapeName } from './names.ts';
import type { CelSchema } from './schema.ts';

/** Functions of the engine that behave differently in Kubernetes, or that Kubernetes does not have. */
const FUNCTIONS: ReadonlySet<string> = new Set(['matches', 'int', 'double', 'bool', 'string', 'timestamp', 'duration']);
const METHODS: ReadonlySet<string> = new Set([
  'matches',
  'indexOf',
  'lastIndexOf',
  'lowerAscii',
  'upperAscii',
  'split',
  'join',
  'substring',
  'trim',
  'json',
  'hex',
  'string',
  'base64',
  'at',
]);

/** Yields every node, parents before children. */
export function* nodesOf(node: ASTNode): Generator<ASTNode> {
  yield node;
  for (const child of argumentsOf(node)) yield* nodesOf(child);
}

function argumentsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** Renames calls of replaced functions to the names of our functions. Must run before the engine compiles. */
export function rewrite(root: ASTNode): void {
  for (const node of nodesOf(root)) {
    if (node.op === 'call' && FUNCTIONS.has(node.args[0])) node.args[0] += OURS;
    if (node.op === 'rcall' && METHODS.has(node.args[0])) node.args[0] += OURS;
  }
}

export function mentions(root: ASTNode, name: string): boolean {
  for (const node of nodesOf(root)) if (node.op === 'id' && node.args === name) return true;
  return false;
}

/**
 * Returns an error that Kubernetes' compiler reports and the engine's compiler does not. Uses the types that the engine
 * inferred.
 */
export function compilerFault(root: ASTNode, objects: ReadonlyMap<string, CelSchema>): string | undefined {
  for (const node of nodesOf(root)) {
    const fault = faultOfNode(node, objects) ?? literalFault(node) ?? mixedFault(root, node);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfNode(node: ASTNode, objects: ReadonlyMap<string, CelSchema>): string | undefined {
  if (node.op === 'id' && node.args === 'cel') return "undeclared reference to 'cel'";
  if (node.op !== '[]') return undefined;
  const [container, index] = node.args.map(typeOf);
  if (container === undefined || index === undefined || index.includes('dyn')) return undefined;
  if (objects.has(container)) return 'an object cannot be indexed: select its field';
  const key = /^map<(\w+), /.exec(container)?.[1];
  if (key === undefined || key === 'dyn' || key === index) return undefined;
  return `a map with keys of type ${key} cannot be indexed with ${index}`;
}

/** Returns the schema of an object, or of a chain of fields of an object. undefined if no schema is known. */
export function schemaOf(node: ASTNode, objects: ReadonlyMap<string, CelSchema>): CelSchema | undefined {
  const known = objects.get(typeOf(node) ?? '');
  if (known !== undefined || (node.op !== '.' && node.op !== '.?')) return known;
  const [object, field] = node.args;
  for (const [name, property] of schemaOf(object, objects)?.properties ?? []) {
    if (escapeName(name) === field || name === field) return property;
  }
  return undefined;
}

/** Reads the inferred type. The engine stores the type on each node, but does not declare the property. */
function typeOf(node: ASTNode): string | undefined {
  const type: unknown = Reflect.get(node, 'checkedType');
  return isObject(type) && typeof type.name === 'string' ? type.name : undefined;
}

function literalFault(node: ASTNode): string | undefined {
  if (node.op !== 'call' && node.op !== 'rcall') return undefined;
  const [name] = node.args;
  const last = (node.op === 'call' ? node.args[1] : node.args[2]).at(-1);
  const text = last?.op === 'value' && typeof last.args === 'string' ? last.args : undefined;
  if (text === undefined) return undefined;
  if (name === `matches${OURS}`) {
    const regex = regexOf(text);
    return regex.ok ? undefined : `invalid matches argument: ${regex.reason}`;
  }
  if (name === `duration${OURS}` && parseGoDuration(text) === undefined) return 'invalid duration argument';
  if (name === `timestamp${OURS}` && parseTimestamp(text) === undefined) return 'invalid timestamp argument';
  return undefined;
}

/** Reports list and map literals with more than one type. Only arguments of `format` may differ in type. */
function mixedFault(root: ASTNode, node: ASTNode): string | undefined {
  if ((node.op !== 'list' && node.op !== 'map') || isFormatted(root, node)) return undefined;
  if (node.op === 'list') return mixedTypes(node.args);
  return mixedTypes(node.args.map(([key]) => key)) ?? mixedTypes(node.args.map(([, value]) => value));
}

function isFormatted(root: ASTNode, literal: ASTNode): boolean {
  for (const node of nodesOf(root)) {
    if (node.op !== 'rcall' || node.args[0] !== 'format') continue;
    for (const inside of node.args[2].flatMap((argument) => [...nodesOf(argument)]))
      if (inside === literal) return true;
  }
  return false;
}

function mixedTypes(nodes: readonly ASTNode[]): string | undefined {
  const types = new Set(nodes.map((node) => typeOf(node) ?? 'dyn'));
  const [expected, found] = [...types].filter((type) => !type.includes('dyn') && !/<[A-Z]>|<[A-Z],/.test(type));
  return found === undefined ? undefined : `expected type '${expected}' but found '${found}'`;
}

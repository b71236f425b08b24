// Finds the parts of a request that a policy can read, from Cedar's JSON form of the policy. The engine gets only these
// parts, and decisions are cached by these parts. A policy with an unknown construct is assumed to read all parts.

import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject } from '#std/json.ts';

export type Names = ReadonlySet<string> | 'all';

export interface Reads {
  readonly principal: Names;
  readonly action: Names;
  readonly resource: Names;
  readonly context: Names;
  /** True if the policy reads entities outside the request, by their hierarchy or their tags. */
  readonly entities: boolean;
  /** True if the policy reads the groups of the caller. */
  readonly groups: boolean;
  /**
   * True if the policy follows a reference between entities, such as `principal.manager.name`. The reference may lead
   * to any entity.
   */
  readonly further: boolean;
}

type CedarVariable = 'principal' | 'action' | 'resource' | 'context';

interface PolicyReads {
  readonly principal: Set<string>;
  readonly action: Set<string>;
  readonly resource: Set<string>;
  readonly context: Set<string>;
  readonly whole: Set<CedarVariable>;
  entities: boolean;
  further: boolean;
}

const VARIABLES: readonly CedarVariable[] = ['principal', 'action', 'resource', 'context'];

/** Constructs with two operands, which are both walked. */
const BINARY = new Set(['<', '<=', '>', '>=', '&&', '||', '+', '-', '*', 'contains', 'containsAll', 'containsAny']);
/** Constructs that compare the identity of an entity, without reading attributes. */
const IDENTITY = new Set(['==', '!=']);
const UNARY = new Set(['!', 'neg', 'isEmpty']);
/** Functions of Cedar's extensions, whose arguments are walked. */
const FUNCTIONS = new Set([
  ...['decimal', 'lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'],
  ...['ip', 'isIpv4', 'isIpv6', 'isLoopback', 'isMulticast', 'isInRange'],
  ...['datetime', 'duration', 'offset', 'durationSince', 'toDate', 'toTime'],
  ...['toMilliseconds', 'toSeconds', 'toMinutes', 'toHours', 'toDays'],
]);

export function policyReads(policy: PolicyJson): Reads {
  const found: PolicyReads = {
    principal: new Set(),
    action: new Set(),
    resource: new Set(),
    context: new Set(),
    whole: new Set(),
    entities: false,
    further: false,
  };
  for (const { body } of policy.conditions) walk(body, found);
  const names = (variable: CedarVariable): Names => (found.whole.has(variable) ? 'all' : found[variable]);
  return {
    principal: names('principal'),
    action: names('action'),
    resource: names('resource'),
    context: names('context'),
    entities: found.entities || scopeReadsEntities(policy),
    groups: found.entities || scopeReadsGroups(policy),
    further: found.further,
  };
}

export function unitedReads(all: readonly Reads[]): Reads {
  return {
    principal: unitedNames(all.map(({ principal }) => principal)),
    action: unitedNames(all.map(({ action }) => action)),
    resource: unitedNames(all.map(({ resource }) => resource)),
    context: unitedNames(all.map(({ context }) => context)),
    entities: all.some(({ entities }) => entities),
    groups: all.some(({ groups }) => groups),
    further: all.some(({ further }) => further),
  };
}

export function unitedNames(all: readonly Names[]): Names {
  const united = new Set<string>();
  for (const names of all) {
    if (names === 'all') return 'all';
    for (const name of names) united.add(name);
  }
  return united;
}

/** Returns whether `names` may include a name for which `test` is true. */
export function someName(names: Names, test: (name: string) => boolean): boolean {
  return names === 'all' || [...names].some(test);
}

function scopeReadsEntities({ principal, action, resource }: PolicyJson): boolean {
  const hierarchy = principal.op === 'in' || resource.op === 'in' || action.op === 'in';
  return hierarchy || [principal, resource].some((each) => each.op === 'is' && each.in !== undefined);
}

/**
 * Returns whether a scope reads groups. `resource in` counts, because the policy file may place a resource below a
 * caller, and thereby below the groups of the caller.
 */
function scopeReadsGroups({ principal, resource }: PolicyJson): boolean {
  return [principal, resource].some((each) => each.op === 'in' || (each.op === 'is' && each.in !== undefined));
}

/** Walks one node. A node is an object with one key, the construct. */
function walk(node: unknown, found: PolicyReads): void {
  const entries = isObject(node) ? Object.entries(node) : [];
  const [construct, operand] = entries[0] ?? [];
  if (construct === undefined || entries.length > 1) readEverything(found);
  else if (construct === 'Var') readWhole(operand, found);
  else if (construct === 'Set' || FUNCTIONS.has(construct)) walkAll(operand, found);
  else if (construct !== 'Value') walkOperator(construct, operand, found);
}

function walkOperator(construct: string, operand: unknown, found: PolicyReads): void {
  if (!isObject(operand)) readEverything(found);
  else if (construct === 'Record') walkAll(Object.values(operand), found);
  else if (UNARY.has(construct)) walk(operand.arg, found);
  else if (BINARY.has(construct)) walkAll([operand.left, operand.right], found);
  else if (construct === 'if-then-else') walkAll([operand.if, operand.then, operand.else], found);
  else if (construct === 'like') walk(operand.left, found);
  else walkAboutEntities(construct, operand, found);
}

function walkAboutEntities(construct: string, operand: { [key: string]: unknown }, found: PolicyReads): void {
  const { left, right } = operand;
  if (IDENTITY.has(construct)) {
    walkIdentity(left, found);
    walkIdentity(right, found);
  } else if (construct === 'in' || construct === 'is') {
    const within = construct === 'in' ? right : operand.in;
    walkIdentity(left, found);
    if (within === undefined) return;
    walkIdentity(within, found);
    found.entities = true;
  } else if (construct === 'hasTag' || construct === 'getTag') {
    walkIdentity(left, found);
    walk(right, found);
    found.entities = true;
  } else if (construct === '.' || construct === 'has') {
    readAttribute(left, operand.attr, found);
  } else {
    readEverything(found);
  }
}

/** Walks an operand of a comparison of identities. A list of entities is walked element by element. */
function walkIdentity(node: unknown, found: PolicyReads): void {
  const variable = variableOf(node);
  if (variable !== undefined && variable !== 'context') return;
  if (isObject(node) && Array.isArray(node.Set)) {
    for (const element of node.Set) walkIdentity(element, found);
    return;
  }
  walk(node, found);
}

/** Reads `left.attr` or `left has attr`. For `has`, `attr` may be a path that begins with the name of the attribute. */
function readAttribute(left: unknown, attr: unknown, found: PolicyReads): void {
  const [first, ...rest] = Array.isArray(attr) ? attr : [attr];
  const variable = variableOf(left);
  if (variable === undefined) {
    readFurther(rootOf(left), found);
    walk(left, found);
  } else if (typeof first === 'string') {
    found[variable].add(first);
    if (rest.length > 0) readFurther(variable, found);
  } else {
    readEverything(found);
  }
}

/** Returns the variable at the start of a chain of attributes. */
function rootOf(node: unknown): CedarVariable | undefined {
  const variable = variableOf(node);
  if (variable !== undefined) return variable;
  const attribute = isObject(node) ? node['.'] : undefined;
  return isObject(attribute) ? rootOf(attribute.left) : undefined;
}

/**
 * Records a read inside an attribute's value. The context is plain data. An attribute of an entity may refer to any
 * entity, even to the caller or the resource.
 */
function readFurther(root: CedarVariable | undefined, found: PolicyReads): void {
  if (root === undefined) readEverything(found);
  else if (root !== 'context') found.further = true;
}

function variableOf(node: unknown): CedarVariable | undefined {
  const name = isObject(node) ? node.Var : undefined;
  return VARIABLES.find((variable) => variable === name);
}

function readWhole(name: unknown, found: PolicyReads): void {
  const variable = VARIABLES.find((each) => each === name);
  if (variable === undefined) readEverything(found);
  else found.whole.add(variable);
}

function walkAll(nodes: unknown, found: PolicyReads): void {
  if (Array.isArray(nodes)) for (const node of nodes) walk(node, found);
  else readEverything(found);
}

function readEverything(found: PolicyReads): void {
  for (const variable of VARIABLES) found.whole.add(variable);
  found.entities = true;
}

// Finds the literals, patterns and claims that policies compare with arguments, from Cedar's JSON form of the policies.
// Calls with equal results of all comparisons get the same decision, which can be cached. Decisions depend on the exact
// value of an argument that is used in another way.

import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject } from '#std/json.ts';
import { type Attributes, isArgumentName } from './attributes.ts';
import { isClaimName } from './caller.ts';
import type { Names } from './reads.ts';
import type { CedarValue } from './values.ts';

type Scalar = string | number | boolean;

/** Literal, or name of a claim. */
type Operand = { readonly literal: Scalar } | { readonly claim: string };

type Comparison =
  | { readonly kind: 'equal'; readonly to: Operand }
  | { readonly kind: 'order'; readonly to: Operand }
  /** The argument must be an element of a claim. */
  | { readonly kind: 'among'; readonly claim: string }
  /** The argument must match a pattern. `parts` are the texts between its wildcards. */
  | { readonly kind: 'like'; readonly parts: readonly string[] };

/** Comparisons by attribute name of the argument. A list is empty if policies only test for presence or truth. */
export type Comparisons = ReadonlyMap<string, readonly Comparison[]>;

interface ValueUses {
  readonly compared: Map<string, Comparison[]>;
  /** Names of arguments whose exact value some policy uses. */
  readonly byValue: Set<string>;
}

const EQUALITY = new Set(['==', '!=']);
const ORDER = new Set(['<', '<=', '>', '>=']);
const LOGIC = new Set(['&&', '||', '!', 'if-then-else']);

/**
 * Returns undefined if decisions depend on the exact value of an argument. `names` are all attributes that policies
 * read.
 */
export function comparisonsOf(policies: readonly PolicyJson[], names: Names): Comparisons | undefined {
  if (names === 'all') return undefined;
  const found: ValueUses = { compared: new Map(), byValue: new Set() };
  for (const { conditions } of policies) for (const { body } of conditions) walkCondition(body, found);
  const read = [...names].filter(isArgumentName);
  const known = read.every((name) => found.compared.has(name) && !found.byValue.has(name));
  return known ? new Map(read.map((name) => [name, found.compared.get(name) ?? []])) : undefined;
}

/** Walks a boolean expression. An argument that is itself a condition is only tested for truth. */
function walkCondition(node: unknown, found: ValueUses): void {
  const name = argumentOf(node);
  const { construct, operand } = partsOf(node);
  if (name !== undefined) addComparison(name, [], found);
  else if (construct !== undefined && LOGIC.has(construct))
    for (const each of nodesIn(operand)) walkCondition(each, found);
  else walkValue(node, found);
}

function walkValue(node: unknown, found: ValueUses): void {
  const name = argumentOf(node);
  if (name !== undefined) found.byValue.add(name);
  const { construct, operand } = partsOf(node);
  if (construct === undefined || construct === 'Value' || name !== undefined) return;
  if (isObject(operand) && readComparison(construct, operand, found)) return;
  for (const each of nodesIn(operand)) walkValue(each, found);
}

/** Reads a comparison. Returns false if the expression is not a comparison of an argument. */
function readComparison(construct: string, operand: { readonly [key: string]: unknown }, found: ValueUses): boolean {
  const { left, right } = operand;
  if (construct === 'has') return readPresence(left, operand.attr, found);
  if (construct === 'like') return addComparison(argumentOf(left), [likeOf(operand.pattern)], found);
  if (construct === 'contains') return addComparison(argumentOf(right), elementsOf(left), found);
  const kind = EQUALITY.has(construct) ? 'equal' : ORDER.has(construct) ? 'order' : undefined;
  if (kind === undefined) return false;
  const comparisonWith = (node: unknown): Comparison | undefined => {
    const to = operandOf(node);
    return to && { kind, to };
  };
  return (
    addComparison(argumentOf(left), [comparisonWith(right)], found) ||
    addComparison(argumentOf(right), [comparisonWith(left)], found)
  );
}

/** Reads `context has arg_x`. A longer path uses the exact value. */
function readPresence(left: unknown, attr: unknown, found: ValueUses): boolean {
  const [first, ...rest] = Array.isArray(attr) ? attr : [attr];
  const name = argumentOf({ '.': { left, attr: first } });
  if (name !== undefined && rest.length > 0) found.byValue.add(name);
  return addComparison(name, [], found);
}

/** Adds comparisons of an argument. Returns false if `name` is undefined or an entry of `comparisons` is undefined. */
function addComparison(
  name: string | undefined,
  comparisons: readonly (Comparison | undefined)[],
  found: ValueUses,
): boolean {
  const known = comparisons.filter((comparison) => comparison !== undefined);
  if (name === undefined || known.length < comparisons.length) return false;
  found.compared.set(name, [...(found.compared.get(name) ?? []), ...known]);
  return true;
}

/** Reads the list in which an argument is searched. The list consists of literals or is a claim. */
function elementsOf(node: unknown): readonly (Comparison | undefined)[] {
  const claim = claimOf(node);
  if (claim !== undefined) return [{ kind: 'among', claim }];
  const { construct, operand } = partsOf(node);
  if (construct !== 'Set' || !Array.isArray(operand)) return [undefined];
  return operand.map((element) => {
    const to = operandOf(element);
    return to && { kind: 'equal', to };
  });
}

function likeOf(pattern: unknown): Comparison | undefined {
  if (!Array.isArray(pattern)) return undefined;
  const parts = [''];
  for (const element of pattern) {
    if (element === 'Wildcard') parts.push('');
    else if (isObject(element) && typeof element.Literal === 'string')
      parts.push((parts.pop() ?? '') + element.Literal);
    else return undefined;
  }
  return { kind: 'like', parts };
}

function operandOf(node: unknown): Operand | undefined {
  const claim = claimOf(node);
  if (claim !== undefined) return { claim };
  const { construct, operand: literal } = partsOf(node);
  return construct === 'Value' && isScalar(literal) ? { literal } : undefined;
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
}

/** Returns the attribute name of an argument. Arguments are attributes of the context and of the resource. */
function argumentOf(node: unknown): string | undefined {
  return attributeOf(node, ['context', 'resource'], isArgumentName);
}

/**
 * Returns the name of a claim in the context. Ignores claims of the principal, whose values may come from the entities
 * of the policy file.
 */
function claimOf(node: unknown): string | undefined {
  return attributeOf(node, ['context'], isClaimName);
}

function attributeOf(
  node: unknown,
  variables: readonly string[],
  isOne: (name: string) => boolean,
): string | undefined {
  const { construct, operand } = partsOf(node);
  if (construct !== '.' || !isObject(operand) || typeof operand.attr !== 'string') return undefined;
  const { construct: root, operand: variable } = partsOf(operand.left);
  const fits = root === 'Var' && typeof variable === 'string' && variables.includes(variable);
  return fits && isOne(operand.attr) ? operand.attr : undefined;
}

/** Splits a node. A node is an object with one key, the construct. */
function partsOf(node: unknown): { readonly construct?: string; readonly operand?: unknown } {
  const entries = isObject(node) ? Object.entries(node) : [];
  const [[construct, operand] = []] = entries;
  return entries.length === 1 ? { construct, operand } : {};
}

/** Returns all direct children of a node, including the elements of lists. */
function nodesIn(operand: unknown): readonly unknown[] {
  const values = Array.isArray(operand) ? operand : isObject(operand) ? Object.values(operand) : [];
  return values.flatMap((value: unknown) => (Array.isArray(value) ? value : [value]));
}

/**
 * Returns a key that is equal for arguments that the policies cannot distinguish. undefined if decisions depend on
 * exact values, or a text is too long. `args` are the arguments that policies read, in Cedar's form. `claims` are the
 * claims in the context. The key does not contain `|`.
 */
export function comparedKey(comparisons: Comparisons, args: Attributes, claims: Attributes): string | undefined {
  let key = '';
  for (const [name, compared] of comparisons) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    // Lists, records, decimals and integers beyond 2^53 are objects in Cedar's form.
    if (typeof value === 'object') return undefined;
    key += value === undefined ? '-' : letterOf(value);
    if (value === undefined) continue;
    if (typeof value === 'string' && value.length * compared.length > LOOKED_AT_MAX) return undefined;
    for (const [index, comparison] of compared.entries()) {
      const outcome = comparedWith(comparison, value, claims);
      if (outcome !== OTHERWISE) key += `${index}${outcome}`;
    }
  }
  return key;
}

/**
 * Maximum number of characters that all comparisons of an argument may read, because the key needs every comparison.
 */
const LOOKED_AT_MAX = 65_536;

/** The most frequent result of a comparison, which keys omit. */
const OTHERWISE = '>';

function letterOf(value: Scalar): string {
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return typeof value === 'string' ? 's' : 'n';
}

/** Returns the result of a comparison. OTHERWISE for a value of another type, for which Cedar's result is constant. */
function comparedWith(comparison: Comparison, value: Scalar, claims: Attributes): string {
  if (comparison.kind === 'like') {
    return typeof value === 'string' && matchesLike(comparison.parts, value) ? '=' : OTHERWISE;
  }
  if (comparison.kind === 'among') {
    const list = claimIn(claims, comparison.claim);
    return Array.isArray(list) && list.includes(value) ? '=' : OTHERWISE;
  }
  const { to } = comparison;
  const other = 'claim' in to ? claimIn(claims, to.claim) : to.literal;
  if (value === other) return '=';
  const isLess = comparison.kind === 'order' && typeof value === 'number' && typeof other === 'number' && value < other;
  return isLess ? '<' : OTHERWISE;
}

function claimIn(claims: Attributes, name: string): CedarValue | undefined {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Returns whether a text matches as in Cedar's `like`. A wildcard matches any text. */
function matchesLike(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

// Represents sets of fields as trees, and computes unions, intersections and differences of them.

import { compareElements } from './element.ts';

/**
 * One level of a set: child nodes by element. An element is `f:name` (key of a map), `k:{...}` (item of a list by its
 * sorted key fields), `v:...` (item of a set by its value) or `i:0` (item by position).
 */
export type FieldSet = ReadonlyMap<string, FieldNode>;

export interface FieldNode {
  /** True if the path that ends at this node is in the set. Longer paths have their own nodes. */
  readonly member: boolean;
  readonly children: FieldSet;
}

export const EMPTY_SET: FieldSet = new Map();

export const LEAF: FieldNode = { member: true, children: EMPTY_SET };

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const out = new Map(a);
  for (const [element, node] of b) {
    const known = out.get(element);
    out.set(
      element,
      known === undefined
        ? node
        : { member: known.member || node.member, children: union(known.children, node.children) },
    );
  }
  return out;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, (element, node) => {
    const other = b.get(element);
    if (other === undefined) return undefined;
    return { member: node.member && other.member, children: intersection(node.children, other.children) };
  });
}

/** Returns the paths in `a` that are not in `b`. A member of `b` does not remove the paths below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, (element, node) => {
    const other = b.get(element);
    if (other === undefined) return node;
    return { member: node.member && !other.member, children: difference(node.children, other.children) };
  });
}

/** Returns the paths in `a` that are neither in `b` nor below a member of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, (element, node) => {
    const other = b.get(element);
    if (other === undefined) return node;
    if (other.member) return undefined;
    return { member: node.member, children: differenceBelow(node.children, other.children) };
  });
}

/** Returns members that have no members below them. */
export function leaves(set: FieldSet): FieldSet {
  return combine(set, (_element, node) =>
    node.children.size === 0 ? node : { member: false, children: leaves(node.children) },
  );
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [element, node] of a) {
    const other = b.get(element);
    if (other === undefined || other.member !== node.member || !equalSets(node.children, other.children)) return false;
  }
  return true;
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  return nodeAt(set, path)?.member === true;
}

function nodeAt(set: FieldSet, path: readonly string[]): FieldNode | undefined {
  let node: FieldNode | undefined = { member: false, children: set };
  for (const element of path) {
    node = node.children.get(element);
    if (node === undefined) return undefined;
  }
  return node;
}

/**
 * Returns every path in the set as the API server orders them: at each level first the members, then the paths below
 * them.
 */
export function paths(set: FieldSet): (readonly string[])[] {
  const found: (readonly string[])[] = [];
  collectPaths(set, [], found);
  return found;
}

/** Returns the members of the set at `place` and below it. */
export function pathsWithin(set: FieldSet, place: readonly string[]): readonly (readonly string[])[] {
  const node = nodeAt(set, place);
  const below = paths(node?.children ?? EMPTY_SET).map((path) => [...place, ...path]);
  return node?.member === true ? [place, ...below] : below;
}

export function setOf(members: readonly (readonly string[])[]): FieldSet {
  const set: MutableSet = new Map();
  for (const path of members) insert(set, path);
  return set;
}

export type MutableSet = Map<string, MutableNode>;

interface MutableNode {
  member: boolean;
  readonly children: MutableSet;
}

/** Adds a path, but not its parents. The empty path (the whole object) is never owned and is ignored. */
export function insert(set: MutableSet, path: readonly string[]): void {
  let level = set;
  let node: MutableNode | undefined;
  for (const element of path) {
    node = level.get(element);
    if (node === undefined) {
      node = { member: false, children: new Map() };
      level.set(element, node);
    }
    level = node.children;
  }
  if (node !== undefined) node.member = true;
}

function collectPaths(set: FieldSet, prefix: readonly string[], found: (readonly string[])[]): void {
  const elements = [...set.keys()].sort(compareElements);
  for (const element of elements) if (set.get(element)?.member === true) found.push([...prefix, element]);
  for (const element of elements) collectPaths(set.get(element)?.children ?? EMPTY_SET, [...prefix, element], found);
}

/** Applies `change` to each node. Drops nodes that are not members and have no members below them. */
function combine(set: FieldSet, change: (element: string, node: FieldNode) => FieldNode | undefined): FieldSet {
  const out = new Map<string, FieldNode>();
  for (const [element, node] of set) {
    const changed = change(element, node);
    if (changed !== undefined && (changed.member || changed.children.size > 0)) out.set(element, changed);
  }
  return out;
}

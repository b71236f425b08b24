// Finds the field that caused a denial: follows the false part of the expression down to a field. Parts are evaluated
// again, but only for denials, so the time does not matter.

import type { ASTNode } from '@marcbachmann/cel-js';
import { pointerToken } from '#std/json.ts';
import { OURS } from '../cel/library/library.ts';
import type { AdmissionValues } from './evaluate.ts';
import { type Follower, followOf, parsedExpression } from './follow.ts';
import type { Policy } from './policy.ts';

/** Returns a JSON pointer. Empty if no single field can be named. */
export function locate(policy: Policy, expression: string, values: AdmissionValues): string {
  const node = parsedExpression(expression);
  return node === undefined ? '' : (blamed(followOf(policy, values), node, false) ?? '');
}

type FieldPointer = string | undefined;

/** Returns the place that explains why the node has the result `value`. */
function blamed(follower: Follower, node: ASTNode, value: boolean): FieldPointer {
  switch (node.op) {
    case '!_':
      return blamed(follower, node.args, !value);
    case '&&':
    case '||':
      return ofOperands(follower, node.args, value);
    case '?:': {
      const [condition, yes, no] = node.args;
      return blamed(follower, follower.value(condition) === true ? yes : no, value) ?? placeIn(follower, condition);
    }
    case 'rcall':
      return ofQuantifier(follower, node.args, value) ?? placeIn(follower, node);
    case '.':
      return ofVariable(follower, node, value) ?? placeIn(follower, node);
    default:
      return placeIn(follower, node);
  }
}

/**
 * Returns the place of the operand that decides the result. If several operands decide, returns the last: for `!has(x)
 * || x > 1`, the operand `x > 1`.
 */
function ofOperands(follower: Follower, operands: readonly ASTNode[], value: boolean): FieldPointer {
  for (const operand of operands.toReversed()) {
    const found = follower.value(operand) === value ? blamed(follower, operand, value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the place of the first item that decides the result. */
function ofQuantifier(follower: Follower, [name, list, args]: RcallArgs, value: boolean): FieldPointer {
  const decisive = name === 'exists';
  const [variable, predicate] = args;
  if ((name !== 'all' && name !== 'exists') || args.length !== 2 || variable?.op !== 'id') return undefined;
  if (predicate === undefined || value !== decisive) return locateNode(follower, list);
  for (const [index, item] of follower.items(list).entries()) {
    const inner = follower.with(variable.args, item, itemPlace(follower, list, index));
    if (inner.value(predicate) === value) return blamed(inner, predicate, value) ?? inner.place(variable.args);
  }
  return locateNode(follower, list);
}

type RcallArgs = readonly [name: string, receiver: ASTNode, args: readonly ASTNode[]];

function ofVariable(follower: Follower, node: ASTNode, value: boolean): FieldPointer {
  const variable = follower.variable(node);
  return variable === undefined ? undefined : blamed(follower, variable, value);
}

/** Returns the place of the first field in the node. */
function placeIn(follower: Follower, node: ASTNode): FieldPointer {
  const own = locateNode(follower, node);
  if (own !== undefined) return own;
  switch (node.op) {
    case 'value':
    case 'id':
      return undefined;
    case '.':
    case '.?': {
      const variable = follower.variable(node);
      return placeIn(follower, variable ?? node.args[0]);
    }
    case '?:': {
      const [condition, yes, no] = node.args;
      return placeIn(follower, follower.value(condition) === true ? yes : no) ?? placeIn(follower, condition);
    }
    case '!_':
    case '-_':
      return placeIn(follower, node.args);
    case 'call':
      return firstOf(follower, node.args[1]);
    case 'rcall':
      return firstOf(follower, [node.args[1], ...node.args[2]]);
    case 'map':
      return firstOf(follower, node.args.flat());
    default:
      return firstOf(follower, node.args);
  }
}

function firstOf(follower: Follower, nodes: readonly ASTNode[]): FieldPointer {
  for (const node of nodes) {
    const found = placeIn(follower, node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the place of the node's value. The value need not exist. */
function locateNode(follower: Follower, node: ASTNode): FieldPointer {
  const known = follower.placeOfValue(node);
  if (known !== undefined) return known;
  switch (node.op) {
    case 'id':
      return follower.place(node.args);
    case '.':
    case '.?': {
      const variable = follower.variable(node);
      return variable === undefined
        ? fieldBelow(locateNode(follower, node.args[0]), node.args[1])
        : locateNode(follower, variable);
    }
    case '[]':
    case '[?]': {
      const key = follower.value(node.args[1]);
      return typeof key === 'string' || typeof key === 'bigint'
        ? fieldBelow(locateNode(follower, node.args[0]), String(key))
        : undefined;
    }
    case 'call': {
      const [name, [argument]] = node.args;
      return name === `has${OURS}` && argument !== undefined ? locateNode(follower, argument) : undefined;
    }
    case 'rcall':
      return ['orValue', 'value', 'hasValue', 'or'].includes(node.args[0])
        ? locateNode(follower, node.args[1])
        : undefined;
    case '?:':
      return locateNode(follower, follower.value(node.args[0]) === true ? node.args[1] : node.args[2]);
    default:
      return undefined;
  }
}

function fieldBelow(place: FieldPointer, field: string): FieldPointer {
  return place === undefined ? undefined : `${place}/${pointerToken(field)}`;
}

/**
 * Returns the place of an item in the object. For lists that `map`, `filter` or `+` built, returns the place in the
 * original list.
 */
function itemPlace(follower: Follower, list: ASTNode, index: number): FieldPointer {
  const own = locateNode(follower, list);
  if (own !== undefined) return `${own}/${index}`;
  switch (list.op) {
    case '.':
    case '.?': {
      const variable = follower.variable(list);
      return variable === undefined ? undefined : itemPlace(follower, variable, index);
    }
    case '+': {
      const [left, right] = list.args;
      const size = follower.items(left).length;
      return index < size ? itemPlace(follower, left, index) : itemPlace(follower, right, index - size);
    }
    case '?:':
      return itemPlace(follower, follower.value(list.args[0]) === true ? list.args[1] : list.args[2], index);
    case 'rcall':
      return ofMade(follower, list.args, index);
    default:
      return undefined;
  }
}

function ofMade(follower: Follower, [name, list, args]: RcallArgs, index: number): FieldPointer {
  const [variable, ...steps] = args;
  if ((name !== 'map' && name !== 'filter') || variable?.op !== 'id') return undefined;
  const condition = name === 'filter' || steps.length > 1 ? steps[0] : undefined;
  const made = name === 'map' ? steps.at(-1) : variable;
  const kept = follower
    .items(list)
    .map((item, position) => follower.with(variable.args, item, itemPlace(follower, list, position)))
    .filter((inner) => condition === undefined || inner.value(condition) === true);
  const inner = kept[index];
  return inner === undefined || made === undefined ? undefined : locateNode(inner, made);
}

// Evaluates label selectors (meta.k8s.io/v1 LabelSelector).

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** Parts of the selector with an unexpected shape count as absent. An unknown operator never matches. */
export function selects(selector: JsonObject, labels: Readonly<Record<string, Json | undefined>>): boolean {
  const { matchLabels, matchExpressions } = selector;
  return (
    Object.entries(isObject(matchLabels) ? matchLabels : {}).every(([key, value]) => labels[key] === value) &&
    (Array.isArray(matchExpressions) ? matchExpressions : []).every(
      (expression) => !isObject(expression) || matchesRequirement(expression, labels),
    )
  );
}

export function isEmptySelector({ matchLabels, matchExpressions }: JsonObject): boolean {
  const exact = isObject(matchLabels) ? Object.keys(matchLabels).length : 0;
  return exact === 0 && (!Array.isArray(matchExpressions) || matchExpressions.length === 0);
}

function matchesRequirement(
  { key, operator, values }: JsonObject,
  labels: Readonly<Record<string, Json | undefined>>,
): boolean {
  const value: Json | undefined = typeof key === 'string' ? labels[key] : undefined;
  const listed = Array.isArray(values) && value !== undefined && values.includes(value);
  switch (operator) {
    case 'In':
      return listed;
    case 'NotIn':
      return !listed;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

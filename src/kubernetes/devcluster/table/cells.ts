// Builds table columns that read fields of objects and format them as `kubectl get` does.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { ageOf } from './age.ts';
import type { Column } from './column.ts';

export const NONE = '<none>';

export function cell(name: string, read: (object: KubeObject, now: number) => Json): Column {
  return { name, type: 'string', cell: read };
}

export function textColumn(name: string, path: string): Column {
  return cell(name, (object) => textAt(object, path));
}

export function integerColumn(name: string, path: string): Column {
  return { name, type: 'integer', cell: (object) => numberAt(object, path) };
}

/** Returns a column that only `-o wide` shows. */
export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

export function at(object: KubeObject | JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object as Json;
  for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

export function textAt(object: KubeObject | JsonObject, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function numberAt(object: KubeObject, path: string): number {
  const value = at(object, path);
  return typeof value === 'number' ? value : 0;
}

export function listAt(object: KubeObject | JsonObject, path: string): readonly JsonObject[] {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function sizeOf(object: KubeObject, path: string): number {
  const value = at(object, path);
  return isObject(value) ? Object.keys(value).length : 0;
}

export function labelsText(value: Json | undefined): string {
  const pairs = isObject(value) ? Object.entries(value).map(([key, label]) => `${key}=${String(label)}`) : [];
  return pairs.length === 0 ? NONE : pairs.sort().join(',');
}

/** Formats a label selector in the syntax of `kubectl --selector`. */
export function selectorText(selector: Json | undefined): string {
  if (!isObject(selector)) return NONE;
  const exact = isObject(selector.matchLabels)
    ? Object.entries(selector.matchLabels).map(([key, value]) => `${key}=${String(value)}`)
    : [];
  const terms = Array.isArray(selector.matchExpressions)
    ? selector.matchExpressions.filter(isObject).map(expressionText)
    : [];
  const all = [...exact, ...terms].sort();
  return all.length === 0 ? NONE : all.join(',');
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = Array.isArray(values) ? values.map(String).sort().join(',') : '';
  switch (operator) {
    case 'In':
      return `${String(key)} in (${list})`;
    case 'NotIn':
      return `${String(key)} notin (${list})`;
    case 'DoesNotExist':
      return `!${String(key)}`;
    default:
      return String(key);
  }
}

export function containerColumns(template: string): readonly Column[] {
  const containers = (object: KubeObject) => listAt(object, `${template}.spec.containers`);
  return [
    wide(
      cell('Containers', (object) =>
        containers(object)
          .map((container) => String(container.name))
          .join(','),
      ),
    ),
    wide(
      cell('Images', (object) =>
        containers(object)
          .map((container) => String(container.image ?? ''))
          .join(','),
      ),
    ),
  ];
}

export function ageOrNone(time: Json | undefined, now: number): string {
  return typeof time === 'string' ? ageOf(time, now) : NONE;
}

// Represents the current position of a walk through an object, and formats it for users.

import { isObject, type Json, pointerToken } from '#std/json.ts';

/**
 * A position as a linked list from the leaf to the root. undefined stands for the root. Most positions are never
 * printed, so the path is built only for printing.
 */
export interface ObjectPosition {
  readonly above: ObjectPosition | undefined;
  /** The element as in a field set. `i:0` in atomic lists. */
  readonly element: string;
}

export function elementsOf(place: ObjectPosition | undefined): readonly string[] {
  const elements: string[] = [];
  for (let at = place; at !== undefined; at = at.above) elements.push(at.element);
  return elements.reverse();
}

/**
 * Formats a path like a JSON pointer, with items of associative lists by key: `/spec/containers/[name=x]/image`. Empty
 * for the root.
 */
export function pointerOf(elements: readonly string[]): string {
  return elements.map((element) => `/${pointerToken(step(element))}`).join('');
}

function step(element: string): string {
  const content = element.slice(2);
  if (element.startsWith('k:')) return `[${keyPairs(content, plainText)}]`;
  return element.startsWith('v:') ? `[=${plainText(JSON.parse(content) as Json)}]` : content;
}

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Formats a path as the API server does in conflicts: `.spec.containers[name="x"].image`. */
export function serverPath(elements: readonly string[]): string {
  return elements.map(serverStep).join('');
}

function serverStep(element: string): string {
  const content = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${content}`;
    case 'k:':
      return `[${keyPairs(content, (value) => JSON.stringify(value))}]`;
    case 'v:':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

function keyPairs(content: string, text: (value: Json) => string): string {
  const keys = JSON.parse(content) as Json;
  if (!isObject(keys)) return content;
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${text(value ?? null)}`)
    .join(',');
}

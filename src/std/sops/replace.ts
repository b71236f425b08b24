// Replaces parts of a value, and removes list items that SOPS treats as comments.

import { isObject, type Json, pointerToken, pointerTokens } from '../json.ts';

/** Marks a list item that is a comment and must be removed. */
export const COMMENT = Symbol('comment');

export type PutIn = Json | typeof COMMENT;

export interface Replaced {
  readonly value: Json;
  /** Pointers of the replacements in the new value, whose lists may be shorter. */
  readonly at: readonly string[];
}

/** `by` maps pointers into `value` to replacements. */
export function replaced(value: Json, by: ReadonlyMap<string, PutIn>): Replaced {
  const at: string[] = [];
  function visit(inner: Json, was: string, is: string): Json {
    const put = by.get(was);
    if (put !== undefined && put !== COMMENT) {
      at.push(is);
      return put;
    }
    if (Array.isArray(inner)) {
      const kept = [...inner.entries()].filter(([index]) => by.get(`${was}/${index}`) !== COMMENT);
      return kept.map(([index, item], now) => visit(item, `${was}/${index}`, `${is}/${now}`));
    }
    if (!isObject(inner)) return inner;
    const fields = Object.entries(inner).map(([name, field = null]): [string, Json] => {
      const token = pointerToken(name);
      return [name, visit(field, `${was}/${token}`, `${is}/${token}`)];
    });
    return Object.fromEntries(fields);
  }
  return { value: visit(value, '', ''), at };
}

/**
 * Converts a pointer into the new value to a pointer into the document as written. `comments` are the pointers of the
 * removed items.
 */
export function writtenAt(pointer: string, comments: readonly string[]): string {
  if (comments.length === 0) return pointer;
  return pointerTokens(pointer).reduce((written, token) => {
    const gone = indicesIn(`${written}/`, comments);
    return `${written}/${INDEX.test(token) && gone.length > 0 ? indexAmong(gone, Number(token)) : pointerToken(token)}`;
  }, '');
}

const INDEX = /^\d+$/;

/** Returns the indices of comments that are direct items of the list. */
function indicesIn(list: string, comments: readonly string[]): readonly number[] {
  const inside = comments.filter((each) => each.startsWith(list)).map((each) => each.slice(list.length));
  return inside.filter((each) => INDEX.test(each)).map(Number);
}

/** Returns the index that the item had before the items at `gone` were removed. */
function indexAmong(gone: readonly number[], index: number): number {
  return gone.toSorted((a, b) => a - b).reduce((at, each) => (each <= at ? at + 1 : at), index);
}

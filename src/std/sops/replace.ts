// A value with others put in at some places, and with what SOPS takes for comments left out.

import { isObject, type Json, pointerToken, pointerTokens } from '../json.ts';

/** An item of a list that SOPS has made of a comment: it goes. */
export const COMMENT = Symbol('comment');

export type PutIn = Json | typeof COMMENT;

export interface Replaced {
  readonly value: Json;
  /** Where what was put in stands now: lists may have become shorter. */
  readonly at: readonly string[];
}

/** `by`: pointers into the value as it is. */
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

/** Where something stands as it is written; `comments`: pointers to those that were left out. */
export function writtenAt(pointer: string, comments: readonly string[]): string {
  if (comments.length === 0) return pointer;
  return pointerTokens(pointer).reduce((written, token) => {
    const gone = indicesIn(`${written}/`, comments);
    return `${written}/${INDEX.test(token) && gone.length > 0 ? indexAmong(gone, Number(token)) : pointerToken(token)}`;
  }, '');
}

const INDEX = /^\d+$/;

/** Of comments that stood in the list itself. */
function indicesIn(list: string, comments: readonly string[]): readonly number[] {
  const inside = comments.filter((each) => each.startsWith(list)).map((each) => each.slice(list.length));
  return inside.filter((each) => INDEX.test(each)).map(Number);
}

/** What the index was before those at `gone` were left out. */
function indexAmong(gone: readonly number[], index: number): number {
  return gone.toSorted((a, b) => a - b).reduce((at, each) => (each <= at ? at + 1 : at), index);
}

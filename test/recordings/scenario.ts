// The words in which a scenario is written: requests in order, each with the reason why it is asked.

import type { Json, JsonObject } from '#std/json.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What earlier steps kept, by name. */
export type Saved = Readonly<Record<string, Json>>;

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON, the events of a watch as a list, else the text. */
  readonly body: Json;
}

export interface Step {
  /** What this request shows: one sentence that states a fact. */
  readonly reason: string;
  readonly method: Method;
  /** `${name}` stands for a saved value, `${ns}` for the scenario's namespace; so in `query`, `body` and `text`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: Json | ((saved: Saved) => Json);
  /** Recorded in the place of the body, where that is a file of this repository. */
  readonly bodyName?: string;
  /** The request's body as it stands, for what is not JSON. */
  readonly text?: string;
  /** Keeps parts of the answer (JSON pointers) under names. */
  readonly save?: Readonly<Record<string, string>>;
  /** Asks again until this holds; only the last answer is recorded. Fails when it does not come true in time. */
  readonly until?: (answer: Answer, saved: Saved) => boolean;
  /** With `until`: the answer has to stay the same for this long. */
  readonly calmMs?: number;
  /** The part of the answer's body that is recorded; everything where absent. */
  readonly pick?: (body: Json) => Json;
}

export interface Scenario {
  /** Kebab-case; the fixture's file name and, behind `rec-`, the namespace. */
  readonly name: string;
  readonly about: string;
  /** Paths of the objects outside the namespace that the steps make: removed before and after. */
  readonly outside?: readonly string[];
  /** Every write falls into a second of its own, so that the order of managedFields entries is always the same. */
  readonly ticks?: true;
  readonly steps: readonly Step[];
}

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

type Extra = Partial<Omit<Step, 'reason' | 'method' | 'path'>>;

export function read(reason: string, path: string, extra: Extra = {}): Step {
  return { reason, method: 'GET', path, ...extra };
}

export function create(reason: string, path: string, body: NonNullable<Step['body']>, extra: Extra = {}): Step {
  return { reason, method: 'POST', path, contentType: 'application/json', body, ...extra };
}

export function replace(reason: string, path: string, body: NonNullable<Step['body']>, extra: Extra = {}): Step {
  return { reason, method: 'PUT', path, contentType: 'application/json', body, ...extra };
}

export function remove(reason: string, path: string, extra: Extra = {}): Step {
  return {
    reason,
    method: 'DELETE',
    path,
    ...(extra.body === undefined ? {} : { contentType: 'application/json' }),
    ...extra,
  };
}

export function patch(reason: string, path: string, contentType: string, body: Json, extra: Extra = {}): Step {
  return { reason, method: 'PATCH', path, contentType, body, ...extra };
}

export interface ApplyExtra extends Extra {
  readonly force?: boolean;
}

/** Server-side apply by `manager`. */
export function apply(
  reason: string,
  path: string,
  manager: string,
  body: NonNullable<Step['body']>,
  extra: ApplyExtra = {},
): Step {
  const { force, query, ...rest } = extra;
  return {
    reason,
    method: 'PATCH',
    path,
    contentType: APPLY_PATCH,
    query: { fieldManager: manager, ...(force === undefined ? {} : { force: String(force) }), ...query },
    body,
    ...rest,
  };
}

/** Reads an object again and again until its controllers have nothing more to do with it. */
export function settle(reason: string, path: string, until: (answer: Answer) => boolean): Step {
  return { reason, method: 'GET', path, until, calmMs: 1500 };
}

/** What exists at a JSON pointer of an answer's body, or undefined. */
export function at(value: Json | undefined, pointer: string): Json | undefined {
  let found: Json | undefined = value;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null) return undefined;
    found = Array.isArray(found) ? found[Number(key)] : (found as JsonObject)[key];
  }
  return found;
}

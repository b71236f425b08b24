// Stores the faults that tests inject, and selects the fault for a request.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** Properties of the affected requests. An absent property matches every request. */
interface FaultMatch {
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`, or `write` for any
   * write.
   */
  readonly verb?: string;
  /** `group/plural` or `plural`. */
  readonly resource?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** If false, dry runs are not affected. */
  readonly dryRun?: boolean;
  /** If set, affects only the n-th matching request, counted from 1. */
  readonly nth?: number;
}

/**
 * Effect of a fault. `drop: before` closes the connection instead of performing the request. `drop: after` performs the
 * request, then closes the connection without a response.
 */
export type FaultAction =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly delayMs: number }
  | { readonly drop: 'before' | 'after' };

export interface InjectedFault {
  readonly match: FaultMatch;
  readonly action: FaultAction;
  /** Maximum number of affected requests. If absent, all matching requests are affected. */
  readonly times?: number;
}

interface FaultedRequest {
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly dryRun: boolean;
}

export interface Faults {
  add(fault: InjectedFault): void;
  clear(): void;
  /** Returns the action of the first matching fault, and counts the request for this fault. */
  strike(request: FaultedRequest): FaultAction | undefined;
}

const READS = ['get', 'list', 'watch'];

export function openFaults(): Faults {
  let faults: { readonly fault: InjectedFault; matched: number; struck: number }[] = [];
  return {
    add: (fault) => {
      faults.push({ fault, matched: 0, struck: 0 });
    },
    clear: () => {
      faults = [];
    },
    strike: (request) => {
      for (const entry of faults) {
        const { match, action, times } = entry.fault;
        if (!matchesRequest(match, request)) continue;
        entry.matched += 1;
        if (match.nth !== undefined && entry.matched !== match.nth) continue;
        if (times !== undefined && entry.struck >= times) continue;
        entry.struck += 1;
        return action;
      }
      return undefined;
    },
  };
}

function matchesRequest(match: FaultMatch, request: FaultedRequest): boolean {
  const { verb, resource, name, subresource, dryRun } = match;
  if (verb !== undefined && verb !== request.verb && !(verb === 'write' && !READS.includes(request.verb))) return false;
  if (resource !== undefined && resource !== request.plural && resource !== `${request.group}/${request.plural}`)
    return false;
  if (subresource !== undefined && subresource !== request.subresource) return false;
  if (dryRun !== undefined && dryRun !== request.dryRun) return false;
  return name === undefined || name === request.name;
}

/** Parses a fault that another process sent. undefined if the value is not a fault. */
export function readFault(value: Json): InjectedFault | undefined {
  if (!isObject(value) || !isObject(value.action)) return undefined;
  const action = readAction(value.action);
  if (action === undefined) return undefined;
  const { times } = value;
  return { match: readMatch(value.match), action, times: typeof times === 'number' ? times : undefined };
}

function readAction({ status, retryAfterSeconds, delayMs, drop }: JsonObject): FaultAction | undefined {
  if (typeof status === 'number')
    return typeof retryAfterSeconds === 'number' ? { status, retryAfterSeconds } : { status };
  if (typeof delayMs === 'number') return { delayMs };
  return drop === 'before' || drop === 'after' ? { drop } : undefined;
}

function readMatch(value: Json | undefined): FaultMatch {
  if (!isObject(value)) return {};
  const { verb, resource, name, subresource, dryRun, nth } = value;
  return {
    verb: typeof verb === 'string' ? verb : undefined,
    resource: typeof resource === 'string' ? resource : undefined,
    name: typeof name === 'string' ? name : undefined,
    subresource: typeof subresource === 'string' ? subresource : undefined,
    dryRun: typeof dryRun === 'boolean' ? dryRun : undefined,
    nth: typeof nth === 'number' ? nth : undefined,
  };
}

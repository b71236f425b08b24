// Keeps the faults that tests inject: the requests that they hit, and their effect on those requests.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** The properties of a request that is hit. An absent property matches every request. */
interface FaultMatch {
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`, or `write` for any
   * write.
   */
  readonly verb?: string;
  /** `group/plural`, or the plural alone. */
  readonly resource?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** If false, dry runs are not hit. */
  readonly dryRun?: boolean;
  /** If set, hits only the n-th request (from 1) that matches the rest. */
  readonly nth?: number;
}

/**
 * `drop: before` closes the connection without doing anything. `after` performs the request and then closes it without
 * a response.
 */
export type FaultAction =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly delayMs: number }
  | { readonly drop: 'before' | 'after' };

export interface Fault {
  readonly match: FaultMatch;
  readonly action: FaultAction;
  /** Number of requests that the fault hits before it is used up. If absent, it hits all requests. */
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
  add(fault: Fault): void;
  clear(): void;
  /** Returns the action of the first fault that hits the request, and counts the hit. */
  strike(request: FaultedRequest): FaultAction | undefined;
}

const READS = ['get', 'list', 'watch'];

export function openFaults(): Faults {
  let faults: { readonly fault: Fault; matched: number; struck: number }[] = [];
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

/** Reads a fault that another process sends. Returns undefined if the value is not a fault. */
export function readFault(value: Json): Fault | undefined {
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

// The parties that act for the subject of a token, as audit events name them (RFC 8693 section 4.1).

import { isObject, type Json, type JsonObject } from '#std/json.ts';

interface Hop {
  readonly iss?: string;
  readonly sub?: string;
}

/** Field names are those of ToolHive's audit log. */
export interface Delegation {
  /** The newest first. */
  readonly chain: readonly Hop[];
  /** Hops are left out because there are more than the settings permit. */
  readonly truncated: boolean;
  readonly omitted: number;
  /** The claim is not as RFC 8693 demands. */
  readonly malformed: boolean;
  readonly malformedReason?: Fault;
}

type Fault = 'act_not_object' | 'nested_act_not_object' | 'iss_not_string' | 'sub_not_string';

const DEPTH = 10;
const TEXT_MAX = 256;

/** Undefined if the token has no such claim. Nothing but issuers and subjects of the hops gets into an event. */
export function delegationOf({ act }: JsonObject, depth: number = DEPTH): Delegation | undefined {
  if (act === undefined || act === null) return undefined;
  const chain: Hop[] = [];
  let omitted = 0;
  let fault: Fault | undefined;
  let next: Json | undefined = act;
  while (next !== undefined && next !== null) {
    if (!isObject(next)) {
      fault ??= next === act ? 'act_not_object' : 'nested_act_not_object';
      break;
    }
    fault ??= hopFault(next);
    if (chain.length < depth) chain.push(hopOf(next));
    else omitted += 1;
    next = next.act;
  }
  return { chain, truncated: omitted > 0, omitted, malformed: fault !== undefined, malformedReason: fault };
}

function hopOf({ iss, sub }: JsonObject): Hop {
  return { iss: textOrNothing(iss), sub: textOrNothing(sub) };
}

function hopFault({ iss, sub }: JsonObject): Fault | undefined {
  if (iss !== undefined && typeof iss !== 'string') return 'iss_not_string';
  return sub === undefined || typeof sub === 'string' ? undefined : 'sub_not_string';
}

function textOrNothing(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value.slice(0, TEXT_MAX) : undefined;
}

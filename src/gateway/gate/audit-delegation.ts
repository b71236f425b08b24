// Reads the parties that act for the subject of a token, for audit events (RFC 8693 section 4.1).

import { isObject, type Json, type JsonObject } from '#std/json.ts';

interface Hop {
  readonly iss?: string;
  readonly sub?: string;
}

/** Delegation with the field names of ToolHive's audit log. */
export interface Delegation {
  /** Acting parties, the most recent first. */
  readonly chain: readonly Hop[];
  /** True if hops were omitted because the delegation has more hops than the settings allow. */
  readonly truncated: boolean;
  readonly omitted: number;
  /** True if the claim violates RFC 8693. */
  readonly malformed: boolean;
  readonly malformedReason?: DelegationFault;
}

type DelegationFault = 'act_not_object' | 'nested_act_not_object' | 'iss_not_string' | 'sub_not_string';

const DEPTH = 10;
const TEXT_MAX = 256;

/** Returns undefined if the token has no claim `act`. Copies only issuers and subjects of the hops. */
export function delegationOf({ act }: JsonObject, depth: number = DEPTH): Delegation | undefined {
  if (act === undefined || act === null) return undefined;
  const chain: Hop[] = [];
  let omitted = 0;
  let fault: DelegationFault | undefined;
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

function hopFault({ iss, sub }: JsonObject): DelegationFault | undefined {
  if (iss !== undefined && typeof iss !== 'string') return 'iss_not_string';
  return sub === undefined || typeof sub === 'string' ? undefined : 'sub_not_string';
}

function textOrNothing(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value.slice(0, TEXT_MAX) : undefined;
}

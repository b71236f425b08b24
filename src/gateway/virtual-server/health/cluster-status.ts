// Builds `status.discoveredBackends` of a VirtualMCPServer from the latest check of each backend by any replica.

import { isObject, type JsonObject } from '#std/json.ts';
import type { HealthReport, MemberState } from './member-health.ts';

export interface ReportedMember {
  readonly name: string;
  readonly report: HealthReport;
}

const STATUS: Readonly<Record<MemberState, string>> = {
  healthy: 'ready',
  degraded: 'degraded',
  unhealthy: 'unavailable',
  unknown: 'unknown',
};

const OWN_FIELDS = [
  'name',
  'status',
  'lastHealthCheck',
  'message',
  'circuitBreakerState',
  'circuitLastChanged',
  'consecutiveFailures',
] as const;

/**
 * Returns the new list. `written` is the list in the cluster. An entry of another replica with a later check stays, so
 * that replicas do not overwrite each other repeatedly.
 */
export function backendStatuses(members: readonly ReportedMember[], written: unknown): readonly JsonObject[] {
  const there = new Map(
    (Array.isArray(written) ? written : []).filter(isObject).map((each) => [each.name, each] as const),
  );
  return members.map((member) => {
    const last = there.get(member.name);
    return last !== undefined && isNewer(last, member.report) ? ownFields(last) : statusOf(member);
  });
}

function isNewer({ lastHealthCheck }: JsonObject, { checkedAt }: HealthReport): boolean {
  if (typeof lastHealthCheck !== 'string') return false;
  return checkedAt === undefined || Date.parse(lastHealthCheck) > secondOf(checkedAt);
}

/** Rounds down to the second, because the API server stores times with seconds. */
function secondOf(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function ownFields(last: JsonObject): JsonObject {
  return Object.fromEntries(OWN_FIELDS.flatMap((key) => (last[key] === undefined ? [] : [[key, last[key]]])));
}

function statusOf({ name, report }: ReportedMember): JsonObject {
  const { state, checkedAt, message, circuit, consecutiveFailures } = report;
  return {
    name,
    status: STATUS[state],
    ...timeOf('lastHealthCheck', checkedAt),
    ...(message === '' ? {} : { message }),
    ...(circuit === undefined
      ? {}
      : { circuitBreakerState: circuit.state, ...timeOf('circuitLastChanged', circuit.changedAt) }),
    consecutiveFailures,
  };
}

function timeOf(key: string, ms: number | undefined): JsonObject {
  return ms === undefined ? {} : { [key]: new Date(secondOf(ms)).toISOString().replace('.000Z', 'Z') };
}

// Builds the public health documents of a virtual server, without names, URLs and messages of its members.

import type { JsonObject } from '#std/json.ts';
import type { Member } from '../members/member.ts';
import type { HealthReport, MemberState } from './member-health.ts';

const STATES: readonly MemberState[] = ['healthy', 'degraded', 'unhealthy', 'unknown'];

/** Returns the document `/status`. */
export function statusDocument(members: readonly Member[], version: string): JsonObject {
  const summary = memberSummary(members);
  return { healthy: summary.total === summary.healthy, version, backends: summary };
}

/** Returns the document `/api/backends/health`. */
export function healthDocument(members: readonly Member[]): JsonObject {
  return {
    monitoring_enabled: true,
    summary: memberSummary(members),
    backends: members.map(({ health, transport, authType }) => publicReport(health.report(), transport, authType)),
  };
}

interface Summary extends JsonObject {
  readonly total: number;
  readonly healthy: number;
}

function memberSummary(members: readonly Member[]): Summary {
  const states = members.map(({ health }) => health.report().state);
  const counts = STATES.map((state) => [state, states.filter((each) => each === state).length]);
  return { total: members.length, healthy: 0, ...Object.fromEntries(counts) };
}

function publicReport(report: HealthReport, transport: string, authType: string): JsonObject {
  const { state, consecutiveFailures, checkedAt, changedAt, circuit } = report;
  return {
    status: state,
    transport,
    auth_type: authType,
    consecutive_failures: consecutiveFailures,
    ...timeField('last_check', checkedAt),
    ...timeField('last_transition', changedAt),
    ...(circuit === undefined
      ? {}
      : { circuit_state: circuit.state, ...timeField('circuit_last_changed', circuit.changedAt) }),
  };
}

function timeField(key: string, ms: number | undefined): JsonObject {
  return ms === undefined ? {} : { [key]: new Date(ms).toISOString() };
}

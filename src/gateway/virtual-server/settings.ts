// Reads settings from a virtual server's configuration: rules for names, time limits, and settings that are refused.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { parseDuration } from '#std/duration.ts';
import type { AggregationRules } from './catalogue/rules.ts';
import type { HealthSettings } from './health/member-health.ts';

export interface HealthTimes extends HealthSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export function aggregationRules({ aggregation }: Pick<VmcpConfig, 'aggregation'>): AggregationRules {
  const { conflictResolution: strategy, conflictResolutionConfig, tools = [], excludeAllTools } = aggregation;
  const hidesUnlisted = excludeAllTools || aggregation.defaultToolVisibility === 'deny';
  const { prefixFormat, priorityOrder = [] } = conflictResolutionConfig;
  const byName = new Map(tools.map((each) => [each.workload, each]));
  return {
    resolution: { strategy, prefixFormat, priorityOrder },
    shown(member) {
      const listed = byName.get(member);
      if (listed === undefined) return { filter: [], overrides: {}, hidden: hidesUnlisted };
      const { filter = [], overrides = {}, excludeAll } = listed;
      return { filter, overrides, hidden: excludeAll || excludeAllTools };
    },
  };
}

export function timeoutOf({ operational: { timeouts } }: Pick<VmcpConfig, 'operational'>, member: string): number {
  const { default: usual, perWorkload = {} } = timeouts;
  return durationMs((Object.hasOwn(perWorkload, member) ? perWorkload[member] : undefined) ?? usual);
}

export function healthTimes({ operational }: Pick<VmcpConfig, 'operational'>): HealthTimes {
  const { healthCheckInterval, healthCheckTimeout, unhealthyThreshold, circuitBreaker } = operational.failureHandling;
  const { enabled, failureThreshold, timeout } = circuitBreaker;
  return {
    intervalMs: durationMs(healthCheckInterval),
    timeoutMs: durationMs(healthCheckTimeout),
    unhealthyThreshold,
    ...(enabled ? { breaker: { failureThreshold, openMs: durationMs(timeout) } } : {}),
  };
}

/**
 * Converts a duration that the schema has validated. Zero becomes 1 ms, since a time limit of zero would refuse every
 * call.
 */
function durationMs(text: string): number {
  return Math.max(1, Math.ceil(parseDuration(text) ?? 0));
}

/** Returns settings that are refused, each with its pointer and the reason. */
export function unsupportedSettings(
  config: VmcpConfig,
): readonly { readonly pointer: string; readonly reason: string }[] {
  const found: { pointer: string; reason: string }[] = [];
  const refuse = (pointer: string, reason: string) => found.push({ pointer, reason });
  if (config.incomingAuth.type === 'local') {
    refuse(
      '/incomingAuth/type',
      'local would authenticate nobody (decision 0323). Write oidc with the issuer of your tokens, or anonymous',
    );
  }
  return found;
}

// Finds telemetry settings that have no effect because the proxy sends no telemetry.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { SharedTelemetry } from './shared-telemetry.ts';
import type { TelemetryConfig } from './telemetry.ts';

type OpenTelemetry = Static<typeof TelemetryConfig>['openTelemetry'] | Static<typeof SharedTelemetry>['openTelemetry'];

/**
 * Does not check fields with a default, because the author may not have written them. `pointer`: pointer of the block.
 */
export function telemetryFindings(openTelemetry: OpenTelemetry, pointer: string): readonly Finding[] {
  if (openTelemetry === undefined || openTelemetry.enabled) return [];
  const { enabled: _, insecure: _insecure, useLegacyAttributes: _legacy, metrics, tracing, ...others } = openTelemetry;
  const asked = { ...others, metrics: metrics?.enabled, tracing: tracing?.enabled };
  return Object.entries(asked).flatMap(([field, value]) =>
    value === undefined || value === false
      ? []
      : [fieldWithoutEffect(`${pointer}/${field}`, 'openTelemetry.enabled is false')],
  );
}

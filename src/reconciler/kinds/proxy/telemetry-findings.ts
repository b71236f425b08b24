// Finds settings of telemetry that nothing reads, because nothing is sent.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { TelemetryConfig } from './telemetry.ts';

/** A default cannot be distinguished from what is written, so fields with one are not looked at. */
export function telemetryFindings(telemetry: Static<typeof TelemetryConfig> | undefined): readonly Finding[] {
  const { openTelemetry } = telemetry ?? {};
  if (openTelemetry === undefined || openTelemetry.enabled) return [];
  const { endpoint, serviceName, headers, metrics, tracing } = openTelemetry;
  const asked = { endpoint, serviceName, headers, metrics: metrics?.enabled, tracing: tracing?.enabled };
  return Object.entries(asked).flatMap(([field, value]) =>
    value === undefined || value === false
      ? []
      : [fieldWithoutEffect(`/spec/telemetry/openTelemetry/${field}`, 'openTelemetry.enabled is false')],
  );
}

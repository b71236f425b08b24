// Finds settings of telemetry without an effect, because nothing is sent.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { SharedTelemetry } from './shared-telemetry.ts';
import type { TelemetryConfig } from './telemetry.ts';

type OpenTelemetry = Static<typeof TelemetryConfig>['openTelemetry'] | Static<typeof SharedTelemetry>['openTelemetry'];

/**
 * A default cannot be distinguished from a written value, so fields with a default are not checked. `pointer`: pointer
 * of the block.
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

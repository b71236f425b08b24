// Finds mistakes in an MCPTelemetryConfig that neither its schema nor CEL can express.

import type { Static } from '#std/schema.ts';
import { addedHeaderFindings } from '../auth/header-findings.ts';
import type { Finding } from '../kind.ts';
import type { SharedTelemetry } from '../proxy/shared-telemetry.ts';
import { telemetryFindings } from '../proxy/telemetry-findings.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

type Spec = Static<typeof SharedTelemetry>;

export function rules({ spec }: { readonly spec: Spec }): readonly Finding[] {
  const { openTelemetry } = spec;
  const pointer = '/spec/openTelemetry';
  const named = openTelemetry?.resourceAttributes?.['service.name'] !== undefined;
  return [
    ...telemetryFindings(openTelemetry, pointer),
    ...addedHeaderFindings(
      {
        plain: { headers: openTelemetry?.headers ?? {}, pointer: `${pointer}/headers` },
        secret: {
          names: (openTelemetry?.sensitiveHeaders ?? []).map(({ name }) => name),
          pointerOf: (index) => `${pointer}/sensitiveHeaders/${index}/name`,
        },
      },
      ['headers', 'sensitiveHeaders'],
    ),
    ...(named
      ? [
          fieldWithoutEffect(
            `${pointer}/resourceAttributes/service.name`,
            'serviceName of each reference counts instead',
          ),
        ]
      : []),
  ];
}

// Defines every field of MCPTelemetryConfig, and the reference to an MCPTelemetryConfig.

import { addressed } from '#std/address/address.ts';
import type { RuleMark } from '#std/schema/marks.ts';
import { bool, list, object, optional, text, textMap } from '#std/schema.ts';
import { caBundleRef } from '../auth/ca-bundle.ts';
import { refName, secretKeyRef } from '../selectors.ts';
import { Metrics, Prometheus, SERVICE_NAME, Tracing } from './telemetry.ts';

const SensitiveHeader = object(
  {
    name: text('Name of the header.', { minLength: 1 }),
    secretKeyRef: secretKeyRef('Secret entry with the value of the header.'),
  },
  'A header whose value is in a Secret.',
);

const OpenTelemetry = object(
  {
    enabled: bool('True: telemetry is sent.', false),
    endpoint: optional(addressed(text('URL of the OTLP collector.'), 'collector')),
    headers: optional(
      textMap('Headers sent to the collector, by name, readable by anyone who can read this resource.', {
        maxProperties: 128,
      }),
    ),
    sensitiveHeaders: optional(
      list(SensitiveHeader, 'Headers sent to the collector whose values are in Secrets.', {
        keys: ['name'],
        maxItems: 128,
      }),
    ),
    insecure: bool('True: plain HTTP to the collector.', false),
    metrics: optional(Metrics),
    tracing: optional(Tracing),
    useLegacyAttributes: bool('True: older attribute names are sent in addition to the current ones.', true),
    resourceAttributes: optional(
      textMap('Attributes of all sent data. service.name is set by the reference of each resource.'),
    ),
    caBundleRef: optional(caBundleRef('requests to the collector')),
  },
  'OpenTelemetry.',
  {
    validations: [
      {
        rule: '!has(self.headers) || !has(self.sensitiveHeaders) || self.sensitiveHeaders.all(header, !(header.name in self.headers))',
        message: 'a header must not be in both headers and sensitiveHeaders',
      },
    ],
  },
);

export const SharedTelemetry = object(
  { openTelemetry: optional(OpenTelemetry), prometheus: optional(Prometheus) },
  'Metrics and traces of the resources that name these settings.',
);

/** Reference to an MCPTelemetryConfig, with settings of the referring resource. */
export const TelemetryConfigRef = object(
  { name: refName('MCPTelemetryConfig'), serviceName: optional(SERVICE_NAME) },
  'Metrics and traces, from an MCPTelemetryConfig.',
);

/** Only one of the two fields may be set. */
export const ONE_TELEMETRY: RuleMark = {
  rule: '!has(self.telemetry) || !has(self.telemetryConfigRef)',
  message: 'telemetry and telemetryConfigRef are mutually exclusive: set telemetryConfigRef only',
};

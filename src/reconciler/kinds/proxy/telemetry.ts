// Defines the fields for traces, metrics and the audit log.

import { SAMPLING_RATE } from '#contracts/proxy-fields.ts';
import { addressed } from '#std/address/address.ts';
import { bool, list, object, optional, text } from '#std/schema.ts';

export const AuditConfig = object(
  { enabled: bool('True: an audit event is written for each MCP operation.', false) },
  'The audit log.',
);

export const Metrics = object({ enabled: bool('True: metrics are sent.', false) }, 'Metrics sent over OTLP.');

export const Tracing = object(
  {
    enabled: bool('True: traces are sent.', false),
    samplingRate: SAMPLING_RATE,
  },
  'Traces sent over OTLP.',
);

export const SERVICE_NAME = text('Name that telemetry is sent under. Default: the name of the resource.');

export const Prometheus = object(
  { enabled: bool('True: /metrics is served on the transport port.', false) },
  'Prometheus metrics.',
);

const OpenTelemetry = object(
  {
    enabled: bool('True: telemetry is sent.', false),
    endpoint: optional(addressed(text('URL of the OTLP collector.'), 'collector')),
    serviceName: optional(SERVICE_NAME),
    headers: optional(
      list(
        text('A header, as key=value.', { pattern: '^[^=]+=' }),
        'Headers sent to the collector, readable by anyone.',
      ),
    ),
    insecure: bool('True: plain HTTP to the collector.', false),
    metrics: optional(Metrics),
    tracing: optional(Tracing),
    useLegacyAttributes: bool('True: older attribute names are sent in addition to the current ones.', true),
  },
  'OpenTelemetry.',
);

export const TelemetryConfig = object(
  {
    openTelemetry: optional(OpenTelemetry),
    prometheus: optional(Prometheus),
  },
  'Metrics and traces.',
);

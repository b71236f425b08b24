// Defines the audit log and the telemetry of a virtual MCP server.

import { addressed } from '#std/address/address.ts';
import { bool, integer, list, object, optional, text, textMap } from '#std/schema.ts';
import { SAMPLING_RATE } from '../proxy-fields.ts';

/** Audit log in the configuration model. */
export const ModelAudit = object(
  {
    enabled: bool('True: an audit event is written for each MCP operation.', false),
    component: optional(text('Component in the events. Default: the name of the server.')),
    eventTypes: optional(list(text('Type of an event.', { minLength: 1 }), 'Events to write. If empty, all.')),
    excludeEventTypes: optional(
      list(text('Type of an event.', { minLength: 1 }), 'Events not to write. Wins over eventTypes.'),
    ),
    includeRequestData: bool('True: events contain the data of requests.', false),
    includeResponseData: bool('True: events contain the data of responses.', false),
    maxDataSize: integer('Maximum bytes of a request or a response in an event.', {
      default: 1024,
      minimum: 0,
    }),
    detectApplicationErrors: optional(
      bool('False: a response with HTTP status 2xx is a success, even if it is an error of JSON-RPC or of a tool.'),
    ),
    maxDelegationDepth: optional(
      integer('Maximum number of parties in an event that act for the subject of a token (RFC 8693). Default: 10.', {
        minimum: 1,
      }),
    ),
    logFile: optional(text('File that events are written to. Default: standard output.')),
  },
  'The audit log.',
);

/** Telemetry in the configuration model. */
export const ModelTelemetry = object(
  {
    endpoint: optional(addressed(text('URL of the OTLP collector.'), 'collector')),
    serviceName: optional(text('Name that telemetry is sent under. Default: the name of the server.')),
    serviceVersion: optional(text('Version that telemetry is sent under. Default: the version of the program.')),
    tracingEnabled: bool('True: traces are sent.', false),
    metricsEnabled: bool('True: metrics are sent. Independent of enablePrometheusMetricsPath.', false),
    samplingRate: SAMPLING_RATE,
    headers: optional(textMap('Headers sent to the collector, readable by anyone.')),
    insecure: bool('True: plain HTTP to the collector.', false),
    caCertPath: optional(
      text(
        'PEM file in the container with certificates to trust for the collector, in addition to the roots of the image.',
      ),
    ),
    enablePrometheusMetricsPath: bool('True: /metrics is served on the transport port.', false),
    prometheusPort: optional(
      integer('Port that /metrics is served on in addition to the transport port. 0 means 9464.', {
        minimum: 0,
        maximum: 65_535,
      }),
    ),
    metricsOnTransportPort: optional(
      bool('False: /metrics is served on prometheusPort alone, or on 9464 if that is absent.'),
    ),
    environmentVariables: optional(
      list(text('Name of a variable.', { minLength: 1 }), 'Environment variables that become attributes of spans.'),
    ),
    customAttributes: optional(textMap('Attributes of everything that is sent.')),
    useLegacyAttributes: bool('True: older attribute names are sent in addition to the current ones.', true),
  },
  'Metrics and traces.',
);

/** Default port of Prometheus exporters in the OpenTelemetry specification. */
const EXPORTER_PORT = 9464;

/** Returns the port of the separate listener for metrics; undefined if no separate listener is configured. */
export function ownMetricsPort(telemetry: {
  readonly enablePrometheusMetricsPath: boolean;
  readonly prometheusPort?: number;
  readonly metricsOnTransportPort?: boolean;
}): number | undefined {
  const { enablePrometheusMetricsPath: on, prometheusPort: port, metricsOnTransportPort: shared = true } = telemetry;
  return !on || (port === undefined && shared) ? undefined : port || EXPORTER_PORT;
}

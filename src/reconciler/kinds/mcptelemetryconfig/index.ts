// Defines the kind MCPTelemetryConfig: destinations of metrics and traces. It has no children: skep renders its
// settings into the children of the resources that name it.

import { ConfigStatus, configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import { SharedTelemetry } from '../proxy/shared-telemetry.ts';
import { references } from './references.ts';
import { rules } from './rules.ts';

export const MCPTelemetryConfig = defineKind({
  kind: 'MCPTelemetryConfig',
  plural: 'mcptelemetryconfigs',
  singular: 'mcptelemetryconfig',
  shortNames: ['mcpotel'],
  categories: ['toolhive'],
  description: 'Destinations of metrics and traces of servers and proxies of the namespace.',
  printerColumns: [
    { name: 'Endpoint', type: 'string', jsonPath: '.spec.openTelemetry.endpoint' },
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Tracing', type: 'boolean', jsonPath: '.spec.openTelemetry.tracing.enabled' },
    { name: 'Metrics', type: 'boolean', jsonPath: '.spec.openTelemetry.metrics.enabled' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  after: [],
  schema: { spec: SharedTelemetry, status: ConfigStatus },
  rules,
  references,
  status: (self, observed) => configStatus(self, 'telemetryConfigRef', observed),
});

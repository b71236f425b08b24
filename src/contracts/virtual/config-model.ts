// Defines blocks of a virtual MCP server's configuration in the form for specs. The defaults are for files that people
// write. The rules between fields are checked when a file is read.

import { addressed } from '#std/address/address.ts';
import { Type } from '#std/json-schema.ts';
import { list, object, optional, text, textMap } from '#std/schema.ts';
import { filled } from '../file-form.ts';
import { RateLimiting } from '../gate/rate-limiting.ts';
import { toolOverrides } from '../tool-override.ts';
import { IncomingAuth, OutgoingAuth } from '../vmcp-config-auth.ts';
import { aggregation, WORKLOAD_TOOLS } from './aggregation.ts';
import { ListedBackend } from './backend.ts';
import { CompositeTool } from './composite-tool.ts';
import { ModelAudit, ModelTelemetry } from './observability.ts';
import { Operational } from './operational.ts';
import { Optimizer } from './optimizer.ts';

const telemetry = ModelTelemetry.properties;
export const Telemetry = object(
  {
    ...telemetry,
    endpoint: optional(
      addressed(text('host:port of the OTLP collector, without a scheme.', { minLength: 1 }), 'collector'),
    ),
    serviceName: text('Name that telemetry is sent under.', { minLength: 1 }),
    serviceVersion: optional(filled(telemetry.serviceVersion)),
    caCertPath: optional(filled(telemetry.caCertPath)),
    headersFromEnv: optional(textMap('Environment variables with the values of further headers, by name.')),
  },
  'Absent: no telemetry.',
);

const audit = ModelAudit.properties;
export const Audit = object(
  {
    ...audit,
    enabled: Type.Unsafe<true>({ type: 'boolean', const: true }),
    component: text('Component of the events.', { minLength: 1 }),
    logFile: optional(filled(audit.logFile)),
  },
  'Absent: no audit log.',
);

export const VMCP_MODEL = object(
  {
    backends: list(ListedBackend, 'Backends of the server, by name.'),
    incomingAuth: IncomingAuth,
    outgoingAuth: OutgoingAuth,
    aggregation: aggregation({ ...WORKLOAD_TOOLS, overrides: optional(toolOverrides('How tools are shown.')) }),
    compositeTools: optional(list(CompositeTool, 'Workflows that are offered as tools.')),
    operational: Operational,
    telemetry: optional(Telemetry),
    audit: optional(Audit),
    optimizer: optional(Optimizer),
    rateLimiting: optional(RateLimiting),
  },
  'The blocks that have defaults and rules.',
);

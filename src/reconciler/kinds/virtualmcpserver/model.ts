// Defines `spec.config`: the virtual MCP configuration model of ToolHive.

import { RateLimiting } from '#contracts/gate/rate-limiting.ts';
import { toolOverrides } from '#contracts/tool-override.ts';
import { aggregation, WORKLOAD_TOOLS } from '#contracts/virtual/aggregation.ts';
import { ModelIncomingAuth, ModelOutgoingAuth } from '#contracts/virtual/auth.ts';
import { StaticBackend } from '#contracts/virtual/backend.ts';
import { CompositeTool } from '#contracts/virtual/composite-tool.ts';
import { ModelAudit, ModelTelemetry } from '#contracts/virtual/observability.ts';
import { Operational } from '#contracts/virtual/operational.ts';
import { Optimizer } from '#contracts/virtual/optimizer.ts';
import { PassthroughHeaders } from '#contracts/virtual/passthrough-headers.ts';
import type { TString } from '#std/json-schema.ts';
import { supersededBy } from '#std/schema/spellings.ts';
import { list, object, optional, text, textMap } from '#std/schema.ts';
import { namedRef, nameField } from '../selectors.ts';

const { workload, filter, excludeAll } = WORKLOAD_TOOLS;

/** Named AggregationConfig in ToolHive's documents. */
const Aggregation = aggregation({
  workload,
  toolConfigRef: optional(
    namedRef(
      'Tools of it that clients see, and their names. Takes precedence over filter and overrides.',
      'MCPToolConfig',
    ),
  ),
  filter,
  overrides: optional(
    toolOverrides("How tools are shown, by the tools' own names. Applied before conflicts of names are resolved."),
  ),
  excludeAll,
});

const CompositeToolRef = namedRef('A workflow that is a resource of its own.', 'VirtualMCPCompositeToolDefinition');

/** Named Config in ToolHive's documents. */
export const VirtualConfig = object(
  {
    name: optional(text('Name of the server. No effect in a cluster: the name of the resource counts.')),
    groupRef: supersededBy(nameField('Name of the MCPGroup whose members are served.'), 'spec.groupRef') as TString,
    backends: optional(
      list(StaticBackend, 'The backends, if outgoingAuth has source inline. Default: the members of the group.', {
        keys: ['name'],
        maxItems: 1000,
      }),
    ),
    incomingAuth: optional(ModelIncomingAuth),
    outgoingAuth: optional(ModelOutgoingAuth),
    aggregation: Aggregation,
    compositeTools: optional(
      list(CompositeTool, 'Workflows that are offered as tools.', { keys: ['name'], maxItems: 50 }),
    ),
    compositeToolRefs: optional(
      list(CompositeToolRef, 'Workflows that are resources of their own, offered as tools.', {
        keys: ['name'],
        maxItems: 100,
      }),
    ),
    operational: Operational,
    metadata: optional(textMap('Further metadata of the server.')),
    passthroughHeaders: optional(PassthroughHeaders),
    telemetry: optional(ModelTelemetry),
    audit: optional(ModelAudit),
    optimizer: optional(Optimizer),
    rateLimiting: optional(RateLimiting),
  },
  'Settings for the served tools.',
  { default: {} },
);

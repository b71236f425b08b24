// The virtual MCP configuration model: the tools of a group as those of one server. Knows nothing about clusters but
// for the names of other resources in it.

import { CompositeTool } from '../../contracts/virtual/composite-tool.ts';
import { ModelAudit, ModelTelemetry } from '../../contracts/virtual/observability.ts';
import { Operational } from '../../contracts/virtual/operational.ts';
import { decimal } from '../../std/decimal.ts';
import { choice, duration, integer, list, object, optional, text, textMap } from '../../std/schema.ts';
import { nameField } from '../selectors.ts';
import { Aggregation, CompositeToolRef, workloadField } from './model-aggregation.ts';
import { ModelIncomingAuth, ModelOutgoingAuth } from './model-auth.ts';

const StaticBackend = object(
  {
    name: workloadField('Name of the member of the group that this is.'),
    url: text('URL of its MCP endpoint.', { minLength: 1, maxLength: 2048, pattern: '^https?://.+$' }),
    transport: choice('What it speaks.', ['sse', 'streamable-http']),
    metadata: optional(textMap('What else is known about it.')),
  },
  'A backend that is written down instead of found.',
);

/** OptimizerConfig, where nothing else is said. */
export const OPTIMIZER_DEFAULTS = {
  embeddingServiceTimeout: '30s',
  maxToolsToReturn: 8,
  hybridSearchSemanticRatio: '0.5',
  semanticDistanceThreshold: '1.0',
} as const;

/** OptimizerConfig. Its default for the embedding service depends on the resource around it. */
const Optimizer = object(
  {
    embeddingService: optional(
      text('Base URL of an embedding service. No effect beside embeddingServerRef of the resource.', {
        minLength: 1,
        maxLength: 2048,
        pattern: '^https?://.+$',
      }),
    ),
    embeddingServiceTimeout: duration('How long the embedding service may take.', {
      default: OPTIMIZER_DEFAULTS.embeddingServiceTimeout,
      validations: [
        { rule: "duration(self) > duration('0s')", message: 'embeddingServiceTimeout must be longer than nothing' },
      ],
    }),
    maxToolsToReturn: integer('How many tools find_tool gives at most.', {
      default: OPTIMIZER_DEFAULTS.maxToolsToReturn,
      minimum: 1,
      maximum: 50,
    }),
    hybridSearchSemanticRatio: decimal('Share of the search that goes by meaning: 0.0 only words, 1.0 only meaning.', {
      field: 'hybridSearchSemanticRatio',
      most: '1.0',
      default: OPTIMIZER_DEFAULTS.hybridSearchSemanticRatio,
    }),
    semanticDistanceThreshold: decimal('How far a meaning may be away: 0.0 the same, 2.0 the opposite.', {
      field: 'semanticDistanceThreshold',
      most: '2.0',
      default: OPTIMIZER_DEFAULTS.semanticDistanceThreshold,
    }),
  },
  'Clients see two tools only: find_tool, which finds one, and call_tool, which calls it.',
);

/** Config. */
export const VirtualConfig = object(
  {
    name: optional(text('Name of the server. No effect in a cluster: the name of the resource counts.')),
    groupRef: nameField('Name of the MCPGroup whose members are served.'),
    backends: optional(
      list(StaticBackend, 'The backends, where outgoingAuth has source inline. Default: the members of the group.', {
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
    metadata: optional(textMap('What else is to be known about the server.')),
    telemetry: optional(ModelTelemetry),
    audit: optional(ModelAudit),
    optimizer: optional(Optimizer),
  },
  'What is served, and how.',
);

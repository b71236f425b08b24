// Defines the tool search of a virtual MCP server.

import { addressed } from '#std/address/address.ts';
import { decimal } from '#std/decimal.ts';
import { choice, duration, integer, map, object, optional, text } from '#std/schema.ts';

/** Defaults of OptimizerConfig. */
export const OPTIMIZER_DEFAULTS = {
  embeddingServiceTimeout: '30s',
  maxToolsToReturn: 8,
  hybridSearchSemanticRatio: '0.5',
  semanticDistanceThreshold: '1.0',
} as const;

/** Headers that skep sets in requests to an embedding service. `embeddingHeaders` must not contain them. */
const OF_EMBEDDINGS: ReadonlySet<string> = new Set(['accept', 'authorization', 'content-type']);

export function isEmbeddingHeader(name: string): boolean {
  return OF_EMBEDDINGS.has(name.toLowerCase());
}

const OPENAI = "(has(self.embeddingProvider) && self.embeddingProvider == 'openai')";

/**
 * Named OptimizerConfig in ToolHive's documents. The embedding service has no default here, because it depends on other
 * fields of the resource.
 */
export const Optimizer = object(
  {
    embeddingService: optional(
      addressed(
        text('Base URL of an embedding service. No effect if the resource has embeddingServerRef.', {
          minLength: 1,
          maxLength: 2048,
          pattern: '^https?://.+$',
        }),
        'url',
      ),
    ),
    embeddingProvider: optional(
      choice(
        'Interface of the embedding service. tei: the interface of Text Embeddings Inference. openai: POST /embeddings of OpenAI and of services like it; the variable OPENAI_API_KEY of the server holds the key. Default: tei.',
        ['tei', 'openai'],
      ),
    ),
    embeddingModel: optional(text('For openai: name of the model.', { minLength: 1, maxLength: 256 })),
    embeddingHeaders: optional(
      map(
        text('Value of the header, readable by anyone.', {
          minLength: 1,
          maxLength: 8192,
          pattern: '^[^\\x00-\\x08\\x0A-\\x1F\\x7F]*$',
        }),
        'For openai: headers of every request to the service. The key does not belong here.',
        { maxProperties: 32 },
      ),
    ),
    embeddingServiceTimeout: duration('How long the embedding service may take.', {
      default: OPTIMIZER_DEFAULTS.embeddingServiceTimeout,
      validations: [
        { rule: "duration(self) > duration('0s')", message: 'embeddingServiceTimeout must be longer than 0s' },
      ],
    }),
    maxToolsToReturn: integer('Maximum number of tools that find_tool returns.', {
      default: OPTIMIZER_DEFAULTS.maxToolsToReturn,
      minimum: 1,
      maximum: 50,
    }),
    hybridSearchSemanticRatio: decimal('Weight of the meaning in the search: 0.0 only words, 1.0 only meaning.', {
      field: 'hybridSearchSemanticRatio',
      most: '1.0',
      default: OPTIMIZER_DEFAULTS.hybridSearchSemanticRatio,
    }),
    semanticDistanceThreshold: decimal('Maximum distance of a meaning: 0.0 is the same, 2.0 the opposite.', {
      field: 'semanticDistanceThreshold',
      most: '2.0',
      default: OPTIMIZER_DEFAULTS.semanticDistanceThreshold,
    }),
  },
  'Clients see two tools only: find_tool, which finds one, and call_tool, which calls it.',
  {
    validations: [
      {
        rule: `${OPENAI} == has(self.embeddingModel)`,
        message: "embeddingModel must be set if embeddingProvider is 'openai', and must not be set otherwise",
      },
      {
        rule: `${OPENAI} || !has(self.embeddingHeaders)`,
        message: "embeddingHeaders must not be set unless embeddingProvider is 'openai'",
      },
      {
        rule: `!(${OPENAI}) || has(self.embeddingService)`,
        message: "embeddingService must be set if embeddingProvider is 'openai'",
      },
    ],
  },
);

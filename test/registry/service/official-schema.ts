// What the official registry API (its OpenAPI document, version 2025-12-01) says of the answers of its read side, as JSON
// Schema in our own words.

const text = { type: 'string' };
const flag = { type: 'boolean' };
const time = { type: 'string', format: 'date-time' };
const uri = { type: 'string', format: 'uri' };
const list = (items: object) => ({ type: 'array', items });
const map = (additionalProperties: object) => ({ type: 'object', additionalProperties });
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

function object(properties: object, required: readonly string[] = [], more: object = {}): object {
  return { type: 'object', properties, required, ...more };
}

const INPUT = {
  description: text,
  isRequired: flag,
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  value: text,
  isSecret: flag,
  default: text,
  placeholder: text,
  choices: list(text),
};

const VARIABLE_INPUT = { ...INPUT, variables: map(ref('input')) };

const URL_TEMPLATE = { type: 'string', pattern: '^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$' };

function httpTransport(type: string, more: object = {}): object {
  return object({ type: { const: type }, url: URL_TEMPLATE, headers: list(ref('keyValue')), ...more }, ['type', 'url']);
}

const REMOTE = { variables: map(ref('input')) };

const DEFINITIONS = {
  input: object(INPUT),
  keyValue: object({ ...VARIABLE_INPUT, name: text }, ['name']),
  argument: {
    anyOf: [
      {
        allOf: [
          object({ ...VARIABLE_INPUT, type: { const: 'positional' }, valueHint: text, isRepeated: flag }, ['type']),
          { anyOf: [{ required: ['valueHint'] }, { required: ['value'] }] },
        ],
      },
      object({ ...VARIABLE_INPUT, type: { const: 'named' }, name: text, isRepeated: flag }, ['type', 'name']),
    ],
  },
  package: object(
    {
      registryType: text,
      registryBaseUrl: uri,
      identifier: text,
      version: { type: 'string', minLength: 1, not: { const: 'latest' } },
      fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
      runtimeHint: text,
      transport: {
        anyOf: [object({ type: { const: 'stdio' } }, ['type']), httpTransport('streamable-http'), httpTransport('sse')],
      },
      runtimeArguments: list(ref('argument')),
      packageArguments: list(ref('argument')),
      environmentVariables: list(ref('keyValue')),
    },
    ['registryType', 'identifier', 'transport'],
  ),
  icon: object(
    {
      src: { ...uri, maxLength: 255 },
      mimeType: { enum: ['image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp'] },
      sizes: list({ type: 'string', pattern: '^(\\d+x\\d+|any)$' }),
      theme: { enum: ['light', 'dark'] },
    },
    ['src'],
  ),
  server: object(
    {
      name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
      description: { type: 'string', minLength: 1, maxLength: 100 },
      title: { type: 'string', minLength: 1, maxLength: 100 },
      repository: object({ url: uri, source: text, id: text, subfolder: text }, ['url', 'source']),
      version: { type: 'string', maxLength: 255 },
      websiteUrl: uri,
      icons: list(ref('icon')),
      $schema: uri,
      packages: list(ref('package')),
      remotes: list({ anyOf: [httpTransport('streamable-http', REMOTE), httpTransport('sse', REMOTE)] }),
      _meta: object({ 'io.modelcontextprotocol.registry/publisher-provided': map({}) }),
    },
    ['name', 'description', 'version'],
  ),
  serverResponse: object(
    {
      server: ref('server'),
      _meta: object({
        'io.modelcontextprotocol.registry/official': object(
          {
            status: { enum: ['active', 'deprecated', 'deleted'] },
            statusMessage: { type: 'string', maxLength: 500 },
            statusChangedAt: time,
            publishedAt: time,
            updatedAt: time,
            isLatest: flag,
          },
          // The document asks for none of them; a complete answer has all but the message.
          ['status', 'statusChangedAt', 'publishedAt', 'updatedAt', 'isLatest'],
          { additionalProperties: false },
        ),
      }),
    },
    ['server', '_meta'],
  ),
  serverList: object(
    {
      servers: list(ref('serverResponse')),
      metadata: object({ nextCursor: text, count: { type: 'integer' } }, ['count']),
    },
    ['servers', 'metadata'],
  ),
  error: object({ error: text }, ['error']),
};

export type OfficialAnswer = 'serverList' | 'serverResponse' | 'error';

export function officialSchema(answer: OfficialAnswer): object {
  return { $defs: DEFINITIONS, $ref: `#/$defs/${answer}` };
}

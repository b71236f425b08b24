// Builds the OpenAPI document from the schemas of the routes. ToolHive recognises a registry by two properties of the
// document: version 1.0.0, and the address of the official registry in the description.

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { stringify } from 'yaml';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import type { SendPacked } from './encoding.ts';
import { handleNotFound } from './errors.ts';
import { openApiSchema } from './operation-schemas.ts';
import { route } from './route.ts';

/** Not every YAML parser supports aliases. */
const PLAIN_YAML = { aliasDuplicateObjects: false };

const DESCRIPTION =
  'A registry of MCP servers with the read side of the official API, ' +
  'https://github.com/modelcontextprotocol/registry. Every registry is reachable at /{registry} and at ' +
  '/registry/{registry}.';

/** Prepares the document. Must be called before the described routes are added. */
export async function addOpenApi(app: FastifyInstance, { auth }: RegistryConfig): Promise<void> {
  const security =
    auth.mode === 'anonymous'
      ? {}
      : {
          components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } as const } },
          security: [{ bearer: [] }],
        };
  await app.register(swagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'MCP registry', version: '1.0.0', description: DESCRIPTION },
      ...security,
    },
    // The type of `schema` is wrong for plugins: their routes have none.
    transform: ({ schema = {}, url, route: { config } }) => ({
      schema: auth.mode === 'anonymous' && config?.changes !== true ? withoutChallenges(schema) : schema,
      url,
    }),
  });
  // Schemas serve only as documentation: routes check their input themselves, and JSON.stringify is faster than
  // serialisation by schema.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
}

function withoutChallenges<T extends FastifySchema>(schema: T): T {
  const { 401: _, 403: __, ...response } = (schema.response ?? {}) as Record<string, unknown>;
  return { ...schema, response };
}

type Format = 'json' | 'yaml';

function toYaml(document: unknown): string {
  return stringify(document, PLAIN_YAML);
}

/**
 * Adds routes for the document at the top level, and below each registry for clients that know only a registry's
 * address.
 */
export function addOpenApiRoutes(app: FastifyInstance, { registries }: RegistryConfig, sendPacked: SendPacked): void {
  const made = new Map<Format, Buffer>();

  /** Creates each format once: YAML takes a tenth of a second, and anyone may request it. */
  function bodyOf(format: Format): Buffer {
    const body = made.get(format) ?? Buffer.from((format === 'json' ? JSON.stringify : toYaml)(app.swagger()));
    made.set(format, body);
    return body;
  }

  function send(request: FastifyRequest, reply: FastifyReply, format: Format): Promise<FastifyReply> {
    reply.header('cache-control', 'no-cache').type(`application/${format}; charset=utf-8`);
    return sendPacked(request, reply, `openapi.${format}`, bodyOf(format));
  }
  for (const format of ['json', 'yaml'] as const) {
    route(
      app,
      `/openapi.${format}`,
      (request, reply) => send(request, reply, format),
      openApiSchema(format, 'service'),
    );
    for (const base of ['/:registry', '/registry/:registry']) {
      const schema = openApiSchema(format, 'registry');
      route(app, `${base}/openapi.${format}`, (request, reply) => sendKnown(request, reply, format), schema);
    }
  }

  async function sendKnown(request: FastifyRequest, reply: FastifyReply, format: Format): Promise<FastifyReply> {
    const { registry } = request.params as { readonly registry?: string };
    return registries.some(({ name }) => name === registry)
      ? send(request, reply, format)
      : handleNotFound(request, reply);
  }
}

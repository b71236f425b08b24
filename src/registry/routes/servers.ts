// The catalogue itself (document 1, Endpoints; registry.md 1.3 and 6): lists, versions, one version. Read-only.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CatalogueReader, SourceKey } from '../../catalogue/ports.ts';
import type { RegistryConfig } from '../../contracts/registry-service.ts';
import { type Read, type Refused, refuse } from '../answer.ts';
import type { Bodies } from '../bodies.ts';
import type { RegistryCode } from '../codes.ts';
import { encodeCursor } from '../cursor.ts';
import { acceptsGzip, packed } from '../encoding.ts';
import { entityTag, namesTag } from '../etag.ts';
import { isStorable, type RawQuery, readListQuery, readVersionsQuery } from '../query.ts';
import { sharedRevisions } from '../revisions.ts';
import { type Handler, route } from '../route.ts';
import { LIST_SCHEMA, VERSION_SCHEMA, VERSIONS_SCHEMA } from '../schemas.ts';
import { serverList, serverResponse } from '../wire.ts';

export interface ServersOptions {
  readonly config: RegistryConfig;
  readonly catalogue: CatalogueReader;
  /** Of the service: another one may word the same content differently. */
  readonly version: string;
  readonly bodies: Bodies;
}

/** The documents' base first; the other one is that of the existing platform (registry.md section 0). */
const BASES = ['/:registry/v0.1', '/registry/:registry/v0.1'];

/** The loose rule of registry.md 6.4: whatever a source may hold can be read. */
const SERVER_NAME = /^[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/;
const NAME_LENGTH_MAX = 200;
const VERSION_LENGTH_MAX = 255;

/** What a valid request asks of the store. */
type Load = (catalogue: CatalogueReader) => Promise<Read<object>>;
type Ask = (request: FastifyRequest, key: SourceKey) => Read<Load>;

/** Lists, versions and single versions, below both bases. */
export function addServerRoutes(app: FastifyInstance, options: ServersOptions): void {
  const shared = { ...options, revision: sharedRevisions(options.catalogue) };
  for (const base of BASES) {
    route(app, `${base}/servers`, answering(shared, askList), LIST_SCHEMA);
    route(app, `${base}/servers/:server/versions`, answering(shared, askVersions), VERSIONS_SCHEMA);
    route(app, `${base}/servers/:server/versions/:version`, answering(shared, askVersion), VERSION_SCHEMA);
  }
}

interface Shared extends ServersOptions {
  readonly revision: CatalogueReader['revision'];
}

/**
 * Sends what is asked for, unless the client has it already. The revision is read first: content that changes in between
 * is sent under the older tag, and so asked for again.
 */
function answering(shared: Shared, ask: Ask): Handler {
  const { config, catalogue, version, bodies } = shared;
  const cacheControl = config.auth.mode === 'anonymous' ? 'public, no-cache' : 'private, no-cache';
  return async function answer(request, reply) {
    const key = findRegistry(config, parameter(request, 'registry'));
    if (key === undefined) return refuse(reply, { code: 'registry-not-found', message: 'registry not found' });
    const load = ask(request, key);
    if (!load.ok) return refuse(reply, load.refused);
    const tag = entityTag(version, await shared.revision(key), request.url);
    const headers = { 'cache-control': cacheControl, etag: tag, vary: 'Authorization, Accept-Encoding' };
    if (namesTag(request.headers['if-none-match'], tag)) return reply.code(304).headers(headers).send();
    const body = await plainBody(bodies, tag, () => load.value(catalogue));
    if (!body.ok) return refuse(reply, body.refused);
    const short = acceptsGzip(request.headers['accept-encoding'])
      ? await packedBody(bodies, tag, body.value)
      : undefined;
    if (short !== undefined) reply.header('content-encoding', 'gzip');
    return reply
      .headers(headers)
      .type('application/json; charset=utf-8')
      .send(short ?? body.value);
  };
}

async function plainBody(bodies: Bodies, tag: string, load: () => Promise<Read<object>>): Promise<Read<Buffer>> {
  const kept = bodies.get(tag);
  if (kept !== undefined) return found(kept);
  const loaded = await load();
  if (!loaded.ok) return loaded;
  const body = Buffer.from(JSON.stringify(loaded.value));
  bodies.set(tag, body);
  return found(body);
}

/** Packing costs many times what sending does: once per content, not per request. */
async function packedBody(bodies: Bodies, tag: string, plain: Buffer): Promise<Buffer | undefined> {
  const name = `${tag} gzip`;
  const kept = bodies.get(name);
  if (kept !== undefined) return kept;
  const body = await packed(plain);
  if (body !== undefined) bodies.set(name, body);
  return body;
}

function askList(request: FastifyRequest, key: SourceKey): Read<Load> {
  const read = readListQuery(request.query as RawQuery, key.source);
  if (!read.ok) return read;
  const { query, filters } = read.value;
  return found(async (catalogue) => {
    const { entries, more } = await catalogue.list(key, query);
    const last = entries.at(-1);
    return found(serverList(entries, more && last !== undefined ? encodeCursor(last, filters) : undefined));
  });
}

function askVersions(request: FastifyRequest, key: SourceKey): Read<Load> {
  const name = readServerName(request);
  if (!name.ok) return name;
  const includeDeleted = readVersionsQuery(request.query as RawQuery);
  if (!includeDeleted.ok) return includeDeleted;
  return found(async (catalogue) => {
    const entries = await catalogue.versions(key, name.value, includeDeleted.value);
    return entries.length === 0 ? refused('server-not-found', 'server not found') : found(serverList(entries));
  });
}

function askVersion(request: FastifyRequest, key: SourceKey): Read<Load> {
  const name = readServerName(request);
  if (!name.ok) return name;
  const version = parameter(request, 'version');
  if (version.trim() === '' || version.length > VERSION_LENGTH_MAX || !isStorable(version)) {
    return refused('version-invalid', 'version is empty, too long or holds control characters');
  }
  return found(async (catalogue) => {
    const entry = await catalogue.version(key, name.value, version);
    return entry === undefined
      ? refused('version-not-found', 'server or version not found')
      : found(serverResponse(entry));
  });
}

function findRegistry(config: RegistryConfig, name: string): SourceKey | undefined {
  if (!config.registries.some((registry) => registry.name === name)) return undefined;
  return { namespace: config.namespace, registry: config.registryName, source: name };
}

function readServerName(request: FastifyRequest): Read<string> {
  const server = parameter(request, 'server');
  if (server.length <= NAME_LENGTH_MAX && SERVER_NAME.test(server)) return found(server);
  return refused('server-name-invalid', 'server name must have the form namespace/name, with its slash written as %2F');
}

/** Decoded by the router. */
function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

function found<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

function refused(code: RegistryCode, message: string): { readonly ok: false; readonly refused: Refused } {
  return { ok: false, refused: { code, message } };
}

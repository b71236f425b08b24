// Serves the catalogue read-only: lists, versions, single versions, and values of filters.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SourceKey } from '../../catalogue/ports.ts';
import { type ErrorResponse, found, type ValueOrError } from '../answer.ts';
import type { RegistryCode } from '../codes.ts';
import { type ConditionalOptions, conditionalAnswers, type Load } from '../conditional.ts';
import { encodeCursor } from '../cursor.ts';
import { type RawQuery, readListQuery, readVersionsQuery } from '../query.ts';
import { route } from '../route.ts';
import { FACETS_SCHEMA, LIST_SCHEMA, VERSION_SCHEMA, VERSIONS_SCHEMA } from '../schemas.ts';
import { serverList, serverResponse } from '../wire.ts';

/** Base paths of the API: of the registry server document, and of ToolHive. */
const BASES = ['/:registry/v0.1', '/registry/:registry/v0.1'];
/** Extensions of the official API have paths below `x/` and the author's name. */
const FACETS = 'x/dev.skep/facets';

/** Permits every server name that a source may contain. */
const SERVER_NAME = /^[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/;
const NAME_LENGTH_MAX = 200;
const VERSION_LENGTH_MAX = 255;

/** Adds the routes below all base paths. */
export function addServerRoutes(app: FastifyInstance, options: ConditionalOptions): void {
  const answering = conditionalAnswers(options);
  for (const base of BASES) {
    route(app, `${base}/servers`, answering(askList, 'dated'), LIST_SCHEMA);
    route(app, `${base}/servers/:server/versions`, answering(askVersions), VERSIONS_SCHEMA);
    route(app, `${base}/servers/:server/versions/:version`, answering(askVersion), VERSION_SCHEMA);
    route(app, `${base}/${FACETS}`, answering(askFacets), FACETS_SCHEMA);
  }
}

function askList(request: FastifyRequest, key: SourceKey): ValueOrError<Load> {
  const read = readListQuery(request.query as RawQuery, key.source);
  if (!read.ok) return read;
  const { query, filters } = read.value;
  return found(async (catalogue) => {
    const { revision, entries, next } = await catalogue.list(key, query);
    const text = serverList(entries, next && encodeCursor(next, filters));
    return found({ text, revision });
  });
}

function askVersions(request: FastifyRequest, key: SourceKey): ValueOrError<Load> {
  const name = readServerName(request);
  if (!name.ok) return name;
  const includeDeleted = readVersionsQuery(request.query as RawQuery);
  if (!includeDeleted.ok) return includeDeleted;
  return found(async (catalogue) => {
    const entries = await catalogue.versions(key, name.value, includeDeleted.value);
    return entries.length === 0
      ? refused('server-not-found', 'server not found')
      : found({ text: serverList(entries) });
  });
}

function askVersion(request: FastifyRequest, key: SourceKey): ValueOrError<Load> {
  const name = readServerName(request);
  if (!name.ok) return name;
  const version = parameter(request, 'version');
  if (version.length > VERSION_LENGTH_MAX || !isVersion(version)) {
    return refused('version-invalid', 'version is empty, too long, or contains invalid blanks');
  }
  const includeDeleted = readVersionsQuery(request.query as RawQuery);
  if (!includeDeleted.ok) return includeDeleted;
  return found(async (catalogue) => {
    const entry = await catalogue.version(key, name.value, version, includeDeleted.value);
    return entry === undefined
      ? refused('version-not-found', 'server or version not found')
      : found({ text: serverResponse(entry) });
  });
}

function askFacets(request: FastifyRequest, key: SourceKey): ValueOrError<Load> {
  const read = readListQuery(request.query as RawQuery, key.source);
  if (!read.ok) return read;
  const { query } = read.value;
  return found(async (catalogue) => {
    return found({ text: JSON.stringify(await catalogue.facets(key, { version: 'latest', ...query })) });
  });
}

function readServerName(request: FastifyRequest): ValueOrError<string> {
  const server = parameter(request, 'server');
  if (server.length <= NAME_LENGTH_MAX && SERVER_NAME.test(server)) return found(server);
  return refused('server-name-invalid', 'server name must have the form namespace/name, with its slash written as %2F');
}

/** Permits every version that a source may contain, including control characters that are not blanks. */
function isVersion(text: string): boolean {
  return text.trim() !== '' && text.isWellFormed() && !/[\0\t\n\v\f\r]/.test(text);
}

function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

function refused(code: RegistryCode, message: string): { readonly ok: false; readonly refused: ErrorResponse } {
  return { ok: false, refused: { code, message } };
}

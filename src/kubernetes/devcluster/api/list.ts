// Lists a collection (GET) with selectors, consistent pages, and past states.

import { isObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiContext } from './context.ts';
import { inVersionOf } from './find.ts';
import type { ApiRequest, ListAnswer } from './request.ts';
import { readRevision } from './revision.ts';
import { selectableFields } from './selectable-fields.ts';
import { fieldMatcher, labelMatcher, type Matcher } from './selectors.ts';
import { apiError, badRequest } from './status.ts';

export function listObjects(context: ApiContext, request: ApiRequest): ListAnswer {
  const { type, namespace, query } = request;
  const token = readToken(query.get('continue'));
  if (token !== undefined && (query.get('resourceVersion') ?? '') !== '' && query.get('resourceVersion') !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const limit = readLimit(query.get('limit'));
  const revision = token === undefined ? readListRevision(context, query, limit) : tokenRevision(context, token);
  const all = context.store.listAt(revision, type.collection, namespace).map((object) => inVersionOf(type, object));
  const matcher = selectorOf(request);
  const rest = token === undefined ? all : all.filter((object) => placeIn(object) > token.after);
  const matching = rest.filter(matcher);
  const page = limit === 0 ? matching : matching.slice(0, limit);
  const items = page;
  const last = page.at(-1);
  if (last === undefined || page.length === matching.length)
    return { shape: 'list', items, resourceVersion: String(revision) };
  const selected = query.get('labelSelector') || query.get('fieldSelector');
  return {
    shape: 'list',
    items,
    resourceVersion: String(revision),
    continue: writeToken(revision, placeIn(last)),
    ...(selected ? {} : { remainingItemCount: matching.length - page.length }),
  };
}

/** Returns a matcher for the label selector, the field selector and the name, if the request has one. */
export function selectorOf(request: ApiRequest): Matcher {
  const { type, query, name } = request;
  const labels = labelMatcher(query.get('labelSelector') ?? '');
  const fields = fieldMatcher(query.get('fieldSelector') ?? '', selectableFields(type));
  return (object) => (name === undefined || object.metadata.name === name) && labels(object) && fields(object);
}

function placeIn(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

function readLimit(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^-?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

/** Returns the revision of the listed state (Kubernetes documentation, "Resource versions", table for get and list). */
function readListRevision(context: ApiContext, query: URLSearchParams, limit: number): number {
  const requested = readRevision(query.get('resourceVersion'));
  const match = query.get('resourceVersionMatch');
  const current = context.store.revision();
  if (requested === undefined && match !== null && match !== '') {
    throw forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (requested === undefined || requested === 0) return current;
  if (requested > current) throw versionTooLarge(requested, current);
  const exact = match === 'Exact' || (match === null && limit > 0);
  if (!exact) return current;
  if (requested < context.store.oldest())
    throw apiError(410, 'Expired', 'The resourceVersion for the provided list is too old.');
  return requested;
}

function forbiddenMatch(message: string): Error {
  return apiError(
    422,
    'Invalid',
    `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ${message}`,
    {
      group: 'meta.k8s.io',
      kind: 'ListOptions',
      causes: [{ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field: 'resourceVersionMatch' }],
    },
  );
}

function versionTooLarge(requested: number, current: number): Error {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  return apiError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

interface Token {
  /** Revision of the first page. -1 if the next pages show the newest state. */
  readonly revision: number;
  /** Namespace and name of the last object of the previous page. */
  readonly after: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

function writeToken(revision: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: revision, start: `${after}\u0000` })).toString('base64url');
}

function readToken(text: string | null): Token | undefined {
  if (text === null || text === '') return undefined;
  const value = parseToken(Buffer.from(text, 'base64url').toString('utf8'));
  if (!isObject(value)) throw invalidToken('it is not a JSON object');
  if (value.v !== TOKEN_VERSION)
    throw invalidToken(`server does not recognize this encoded version ${String(value.v)}`);
  const { rv, start } = value;
  if (typeof rv !== 'number' || typeof start !== 'string' || !start.endsWith('\u0000')) {
    throw invalidToken('incorrect encoded start resourceVersion');
  }
  return { revision: rv, after: start.slice(0, -1) };
}

function parseToken(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/**
 * Returns the revision of the next page. Throws a 410 if the revision is no longer stored. Clients can continue in the
 * newest state with `metadata.continue` of the error.
 */
function tokenRevision(context: ApiContext, token: Token): number {
  if (token.revision === -1) return context.store.revision();
  if (token.revision >= context.store.oldest()) return token.revision;
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
    'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
    'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
    'deleted between the time the first chunk was returned and now may show up in the list.';
  throw apiError(410, 'Expired', message, undefined, { continue: writeToken(-1, token.after) });
}

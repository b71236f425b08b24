// Routes each accepted request: discovery, health, test endpoints and resources.

import { requestToken } from '../accounts/token-request.ts';
import { mediaType } from '../api/body/body.ts';
import type { ApiContext } from '../api/context.ts';
import { NAMESPACE_COLLECTION } from '../api/namespaces.ts';
import { NO_EXEC } from '../api/pod-container.ts';
import { type FindLog, sendLog } from '../api/pod-log.ts';
import { type FindPodPort, forwardToPod, type ProxiedPath, proxiedPath } from '../api/pod-proxy.ts';
import type { ApiRequest } from '../api/request.ts';
import { isTrue, parseResourcePath, type ResourcePath, verbOf } from '../api/route.ts';
import { apiError, badRequest, methodNotAllowed, notFound, qualified } from '../api/status.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { negotiate } from './accept.ts';
import type { CounterStore } from './counters.ts';
import { perform } from './dispatch.ts';
import type { FaultAction, Faults } from './faults.ts';
import { answerPlain, type PlainPaths } from './plain.ts';
import { readBody } from './read-request.ts';
import { formsOf, render } from './render.ts';
import { errorAnswer, jsonAnswer, PAGE_NOT_FOUND, sendAnswer } from './respond.ts';
import type { Exchange } from './server.ts';
import { streamWatch } from './stream.ts';

export interface HandlerParts {
  readonly api: ApiContext;
  readonly plain: PlainPaths;
  readonly faults: Faults;
  readonly counters: CounterStore;
  readonly sleep: (ms: number) => Promise<void>;
  readonly findLog: FindLog;
  readonly findPodPort: FindPodPort;
}

export async function handle(parts: HandlerParts, exchange: Exchange): Promise<void> {
  const { message, response, url } = exchange;
  const body = await readBody(message);
  const proxied = proxiedPath(url);
  if (proxied !== undefined) {
    await handleProxied(parts, exchange, proxied);
    return;
  }
  const path = parseResourcePath(url.pathname);
  const type = path === undefined ? undefined : parts.api.types.find(path.group, path.version, path.plural);
  const misplaced = type?.namespaced === false && path?.namespace !== undefined;
  if (path === undefined || type === undefined || misplaced) {
    const answer = answerPlain(parts.plain, message, url, body);
    parts.counters.countOther();
    await sendAnswer(message, response, answer ?? unknownPath(parts, path));
    return;
  }
  if (type.collection === PODS && path.subresource !== undefined && (await handlePod(parts, exchange, path))) return;
  const request = readApiRequest(exchange, path, type, body);
  if (isTokenRequest(request)) await handleTokenRequest(parts, exchange, request);
  else await handleResource(parts, exchange, request);
}

function isTokenRequest({ type, subresource }: ApiRequest): boolean {
  return type.collection === ACCOUNTS && subresource === 'token';
}

async function handleTokenRequest(parts: HandlerParts, { message, response }: Exchange, request: ApiRequest) {
  count(parts.counters, request);
  negotiate(message.headers.accept ?? '', ['object']);
  const answer = jsonAnswer(201, requestToken(parts.api, parts.plain.signer, request));
  await sendAnswer(message, response, answer);
}

const ACCOUNTS = '/serviceaccounts';

const PODS = '/pods';

/** Handles requests to a running pod. Returns false if the request is for the Pod object. */
async function handlePod(parts: HandlerParts, { message, response, url }: Exchange, path: ResourcePath) {
  switch (path.subresource) {
    case 'log':
      if (await isStruck(parts, { message, response, url }, 'log', path.name ?? '')) return true;
      await sendLog(parts.api, parts.findLog, path, url, message, response);
      return true;
    case 'exec':
      throw badRequest(NO_EXEC);
    case 'attach':
    case 'portforward':
      throw badRequest('Upgrade request required');
    default:
      return false;
  }
}

async function handleProxied(parts: HandlerParts, exchange: Exchange, proxied: ProxiedPath): Promise<void> {
  if (await isStruck(parts, exchange, 'proxy', proxied.pod)) return;
  await forwardToPod(parts.findPodPort, proxied, exchange.message, exchange.response);
}

/** Counts a request to the processes of a pod. Returns true if an injected fault has replaced the response. */
async function isStruck(parts: HandlerParts, exchange: Exchange, subresource: string, name: string): Promise<boolean> {
  parts.counters.count({ verb: 'get', resource: `pods/${subresource}`, dryRun: false, furtherPage: false });
  const fault = parts.faults.strike({ verb: 'get', group: '', plural: 'pods', dryRun: false, name, subresource });
  return fault !== undefined && suffer(parts, exchange, fault);
}

/** Returns the 404 for an unknown path: a Status if the group has built-in kinds, otherwise plain text. */
function unknownPath(parts: HandlerParts, path: ResourcePath | undefined) {
  const known = parts.api.types.all().find((type) => type.group === path?.group);
  if (known === undefined || known.custom !== undefined) return PAGE_NOT_FOUND;
  return errorAnswer(apiError(404, 'NotFound', 'the server could not find the requested resource', {}));
}

const SUBRESOURCE_VERBS = ['get', 'update', 'patch'];

function readApiRequest({ message, url }: Exchange, path: ResourcePath, type: ResourceType, body: Buffer): ApiRequest {
  const query = url.searchParams;
  const verb = verbOf(message.method ?? 'GET', path, query);
  const { namespace, name, subresource } = path;
  if (subresource !== undefined && !hasSubresource(type, subresource)) {
    if (type.custom !== undefined) throw notFound(type, name ?? '');
    throw apiError(404, 'NotFound', 'the server could not find the requested resource', {});
  }
  if (verb === undefined || !type.verbs.includes(verb)) throw methodNotAllowed();
  const verbs = subresource === 'token' ? ['create'] : SUBRESOURCE_VERBS;
  if (subresource !== undefined && !verbs.includes(verb)) throw methodNotAllowed();
  if (type.namespaced && namespace === undefined && verb !== 'list' && verb !== 'watch') {
    if (name === undefined) throw methodNotAllowed();
    throw apiError(404, 'NotFound', 'the server could not find the requested resource', {});
  }
  return {
    verb,
    type,
    query,
    body,
    contentType: message.headers['content-type'] ?? '',
    userAgent: message.headers['user-agent'] ?? '',
    ...(type.namespaced && namespace !== undefined ? { namespace } : {}),
    name,
    subresource,
  };
}

function hasSubresource(type: ResourceType, subresource: string): boolean {
  if (subresource === 'finalize') return type.collection === NAMESPACE_COLLECTION;
  if (subresource === 'token') return type.collection === ACCOUNTS;
  return (subresource === 'status' && type.hasStatus) || (subresource === 'scale' && type.scale !== undefined);
}

async function handleResource(parts: HandlerParts, exchange: Exchange, request: ApiRequest): Promise<void> {
  const { message, response } = exchange;
  count(parts.counters, request);
  const fault = strike(parts.faults, request);
  if (fault !== undefined && (await suffer(parts, exchange, fault))) return;
  const representation = negotiate(message.headers.accept ?? '', formsOf(request));
  if (request.verb === 'watch') {
    await streamWatch(parts.api, request, representation, response);
    return;
  }
  const answer = render(request, perform(parts.api, request), representation, parts.api.now());
  if (fault !== undefined && 'drop' in fault) {
    response.destroy();
    return;
  }
  await sendAnswer(message, response, answer);
}

/** Returns the verb for counters and faults. A server-side apply has the verb `apply`. */
function countedVerb(request: ApiRequest): string {
  const isApply = request.verb === 'patch' && mediaType(request.contentType) === 'application/apply-patch+yaml';
  return isApply ? 'apply' : request.verb;
}

function count(counters: CounterStore, request: ApiRequest): void {
  const { type, subresource, query } = request;
  const resource = subresource === undefined ? qualified(type) : `${qualified(type)}/${subresource}`;
  counters.count({
    verb: countedVerb(request),
    resource,
    dryRun: isDryRun(request),
    furtherPage: isTrue(query.get('continue')),
  });
}

function isDryRun({ query }: ApiRequest): boolean {
  return query.get('dryRun') === 'All';
}

function strike(faults: Faults, request: ApiRequest): FaultAction | undefined {
  const { type, name, subresource } = request;
  return faults.strike({
    verb: countedVerb(request),
    group: type.group,
    plural: type.plural,
    dryRun: isDryRun(request),
    name,
    subresource,
  });
}

/** Applies the fault. Returns true if the fault replaced the response. */
async function suffer(parts: HandlerParts, { message, response }: Exchange, fault: FaultAction): Promise<boolean> {
  if ('delayMs' in fault) {
    await parts.sleep(fault.delayMs);
    return false;
  }
  if ('drop' in fault) {
    if (fault.drop === 'before') response.destroy();
    return fault.drop === 'before';
  }
  await sendAnswer(message, response, errorAnswer(injected(fault)));
  return true;
}

function injected({ status, retryAfterSeconds }: Extract<FaultAction, { status: number }>): Error {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const reasons: Record<number, string> = {
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  return apiError(status, reasons[status] ?? 'Unknown', `fault injected by a test: ${status}`, details);
}

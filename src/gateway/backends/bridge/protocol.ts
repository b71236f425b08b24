// What both eras of the protocol say that a bridge has to know: versions, keys of `_meta`, which methods there are, and
// capabilities of one era in the words of the other.

import { isObject, type JsonObject } from '#std/json.ts';
import { TASKS } from '../../wire/extensions/identifiers.ts';

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';

/** What a server says of itself in either era. */
export interface ServerFacts {
  readonly capabilities: JsonObject;
  readonly serverInfo?: JsonObject;
  readonly instructions?: string;
}

/** RFC 5424, from the least severe. */
export const LOG_LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** What a server of 2026-07-28 may ask a client, and the capability that a client needs for it. */
export const ASKING_METHODS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** Requests in whose course a server of 2026-07-28 may ask (2026-07-28, basic/patterns/mrtr, Supported Requests). */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Results that carry `ttlMs` and `cacheScope` (2026-07-28, server/utilities/caching). */
export const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Methods of sessions that 2026-07-28 has no more. */
export const SESSION_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** Capabilities of a client with sessions, as 2026-07-28 has them. */
export function statelessClientCapabilities(capabilities: JsonObject): JsonObject {
  const { experimental, roots, sampling, elicitation } = capabilities;
  return present({
    experimental,
    roots: isObject(roots) ? {} : undefined,
    sampling,
    elicitation,
    extensions: withoutTasks(capabilities.extensions),
  });
}

/** Capabilities of a client of 2026-07-28, for `initialize`. */
export function sessionClientCapabilities(capabilities: JsonObject): JsonObject {
  return present({ ...capabilities, extensions: withoutTasks(capabilities.extensions) });
}

/** Capabilities of a server, for the other era: both name them alike but for tasks. */
export function serverCapabilities(capabilities: JsonObject): JsonObject {
  return present({ ...capabilities, tasks: undefined, extensions: withoutTasks(capabilities.extensions) });
}

/** In both eras of another shape, so that neither side's tasks can be bridged. */
function withoutTasks(extensions: unknown): JsonObject | undefined {
  return isObject(extensions) ? present({ ...extensions, [TASKS]: undefined }) : undefined;
}

function present(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** Whether a client with these capabilities may be asked this; forms are implied by `elicitation: {}`. */
export function allowsQuestion(capabilities: JsonObject, method: string, params: unknown): boolean {
  const name = ASKING_METHODS.get(method);
  const capability = name === undefined ? undefined : capabilities[name];
  if (!isObject(capability)) return false;
  if (name !== 'elicitation') return true;
  const mode = isObject(params) && params.mode === 'url' ? 'url' : 'form';
  return mode in capability || (mode === 'form' && !('url' in capability));
}

/** `requiredCapabilities` of MissingRequiredClientCapabilityError for a question. */
export function requiredCapabilities(method: string, params: unknown): JsonObject {
  const name = ASKING_METHODS.get(method) ?? method;
  const url = name === 'elicitation' && isObject(params) && params.mode === 'url';
  return { [name]: url ? { url: {} } : {} };
}

/** Servers may report a part of a resource that was subscribed to (2025-11-25, server/resources, Subscriptions). */
export function coversUri(subscribed: Iterable<string>, uri: string): boolean {
  for (const each of subscribed) {
    if (uri === each || uri.startsWith(each.endsWith('/') ? each : `${each}/`)) return true;
  }
  return false;
}

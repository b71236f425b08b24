// Defines facts about both eras of MCP (with sessions until 2025-11-25, then stateless): versions, keys of `_meta`,
// methods, and the translation of capabilities.

import { isObject, type JsonObject } from '#std/json.ts';
import { TASKS } from '../../wire/extensions/identifiers.ts';

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';

/** A server's description of itself in either era. */
export interface ServerFacts {
  readonly capabilities: JsonObject;
  readonly serverInfo?: JsonObject;
  readonly instructions?: string;
}

/** Log levels of RFC 5424, from the least severe. */
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

/** Questions that a server of MCP 2026-07-28 may send to a client, each with the capability that the client needs. */
export const ASKING_METHODS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/**
 * Requests during which a server of MCP 2026-07-28 may question the client (MCP 2026-07-28, basic/patterns/mrtr,
 * Supported Requests).
 */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Methods whose results carry `ttlMs` and `cacheScope` (MCP 2026-07-28, server/utilities/caching). */
export const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Methods of the session era that MCP 2026-07-28 removed. */
export const SESSION_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** Translates the capabilities of a client with sessions to MCP 2026-07-28. */
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

/** Translates the capabilities of a client of MCP 2026-07-28 for `initialize`. */
export function sessionClientCapabilities(capabilities: JsonObject): JsonObject {
  return present({ ...capabilities, extensions: withoutTasks(capabilities.extensions) });
}

/** Translates the capabilities of a server to the other era. Only the capability for tasks differs. */
export function serverCapabilities(capabilities: JsonObject): JsonObject {
  return present({ ...capabilities, tasks: undefined, extensions: withoutTasks(capabilities.extensions) });
}

/**
 * Removes tasks, which cannot be bridged because their format differs between versions with sessions and MCP
 * 2026-07-28.
 */
function withoutTasks(extensions: unknown): JsonObject | undefined {
  return isObject(extensions) ? present({ ...extensions, [TASKS]: undefined }) : undefined;
}

function present(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/**
 * Returns whether a client with these capabilities supports this question. `elicitation: {}` implies support for forms.
 */
export function allowsQuestion(capabilities: JsonObject, method: string, params: unknown): boolean {
  const name = ASKING_METHODS.get(method);
  const capability = name === undefined ? undefined : capabilities[name];
  if (!isObject(capability)) return false;
  if (name !== 'elicitation') return true;
  const mode = isObject(params) && params.mode === 'url' ? 'url' : 'form';
  return mode in capability || (mode === 'form' && !('url' in capability));
}

/** Returns `requiredCapabilities` of MissingRequiredClientCapabilityError for a question. */
export function requiredCapabilities(method: string, params: unknown): JsonObject {
  const name = ASKING_METHODS.get(method) ?? method;
  const url = name === 'elicitation' && isObject(params) && params.mode === 'url';
  return { [name]: url ? { url: {} } : {} };
}

/**
 * Returns whether a subscription covers a URI. Servers may report changes of a part of a subscribed resource (MCP
 * 2025-11-25, server/resources, Subscriptions).
 */
export function coversUri(subscribed: Iterable<string>, uri: string): boolean {
  for (const each of subscribed) {
    if (uri === each || uri.startsWith(each.endsWith('/') ? each : `${each}/`)) return true;
  }
  return false;
}

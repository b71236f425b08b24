// Decides which messages of a client need a decision by policies and which always pass. Other messages are refused,
// because an unknown method could do anything. A policy can permit such a method as the method of an extension.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Message, RequestMessage } from '../../wire/message.ts';
import { METHODS } from '../../wire/methods.ts';
import { readValue } from '../../wire/scan.ts';
import type { Denial } from '../codes.ts';
import { readNotifications } from '../subscription.ts';
import type { Decision, Policies } from './decide.ts';
import type { PolicyAction, ToolHints } from './request.ts';

/** An action and its target, as policies decide on them. */
interface PolicyTarget {
  readonly action: PolicyAction;
  readonly name: string;
}

export type MethodRule =
  | { readonly kind: 'passes' }
  | { readonly kind: 'unknown' }
  /** All targets must be allowed. */
  | { readonly kind: 'decided'; readonly targets: readonly PolicyTarget[] };

/** Lists pass because their results are filtered. */
const PASSING = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'roots/list',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'skills/list',
]);

const ACTIONS: ReadonlyMap<string, PolicyAction> = new Map([
  ['tools/call', 'call_tool'],
  ['prompts/get', 'get_prompt'],
  ['resources/read', 'read_resource'],
  ['resources/subscribe', 'read_resource'],
  ['resources/unsubscribe', 'read_resource'],
  ['resources/directory/read', 'read_resource'],
  ['skills/get', 'read_resource'],
]);

const PASSES: MethodRule = { kind: 'passes' };
const UNKNOWN: MethodRule = { kind: 'unknown' };

/**
 * Returns the rule for a client's message. Methods of tasks are unknown here, since the message does not name the tool:
 * they are decided earlier (proxy/tasks).
 */
export function methodRule(body: Buffer, message: Message): MethodRule {
  if (message.kind === 'response') return PASSES;
  // Some servers would run a method even without an id, and only leave the answer out.
  if (message.kind === 'notification') return message.method.startsWith('notifications/') ? PASSES : UNKNOWN;
  const { method, target } = message;
  if (PASSING.has(method)) return PASSES;
  const action = ACTIONS.get(method);
  if (action !== undefined) return target === undefined ? UNKNOWN : decided([{ action, name: target.value }]);
  if (method === 'completion/complete') return completionRule(message);
  if (method === 'subscriptions/listen') return subscriptionRule(body, message);
  return isOfExtension(method) ? decided([{ action: 'extension', name: method }]) : UNKNOWN;
}

/**
 * Returns whether a method may belong to an extension. A method in a namespace of the protocol, in any letter case,
 * could act as a method of the protocol, so no policy may permit it as an extension.
 */
function isOfExtension(method: string): boolean {
  const [namespace = '', ...rest] = method.split('/');
  return rest.length > 0 && /^[\w.-]+(\/[\w.-]+)+$/.test(method) && !NAMESPACES.has(namespace.toLowerCase());
}

const NAMESPACES: ReadonlySet<string> = new Set(METHODS.map(({ method }) => method.split('/')[0] ?? method));

function decided(targets: readonly PolicyTarget[]): MethodRule {
  return { kind: 'decided', targets };
}

/** Completions show values of a prompt or template, so they require the permission to use the prompt or template. */
function completionRule({ target }: RequestMessage): MethodRule {
  if (target?.refType === undefined) return UNKNOWN;
  return decided([{ action: target.refType === 'ref/prompt' ? 'get_prompt' : 'read_resource', name: target.value }]);
}

/**
 * Returns the rule for a filter that subscribes to resources. It has the same targets as `resources/subscribe` (MCP
 * 2026-07-28, subscriptions/listen).
 */
function subscriptionRule(body: Buffer, { params }: RequestMessage): MethodRule {
  const notifications = params === undefined ? undefined : readNotifications(body, params);
  if (notifications === undefined || notifications === 'absent') return UNKNOWN;
  const filter = readValue(body, notifications);
  if (!isObject(filter)) return UNKNOWN;
  const uris = filter.resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) return UNKNOWN;
  return decided(uris.map((name) => ({ action: 'read_resource', name })));
}

/** A message of a client with its caller. */
export interface PolicyCall {
  readonly body: Buffer;
  readonly message: Message;
  /** Claims of the caller, as in PolicyRequest. */
  readonly claims: JsonObject;
  /** Returns the hints of a tool as clients see them. */
  readonly hintsOf: (tool: string) => ToolHints | undefined;
}

const UNKNOWN_METHOD: Denial = {
  httpStatus: 403,
  rpcCode: 403,
  code: 'policy-method-unknown',
  message: 'Unauthorized: no policy permits this method.',
};

/** Decides on the client's message, before any renaming. */
export function decideMessage(policies: Policies, { body, message, claims, hintsOf }: PolicyCall): Decision {
  const rule = methodRule(body, message);
  if (rule.kind === 'passes') return { allowed: true };
  if (rule.kind === 'unknown') return { allowed: false, denial: UNKNOWN_METHOD };
  const span = message.kind === 'request' ? message.arguments : undefined;
  for (const { action, name } of rule.targets) {
    const hints = action === 'call_tool' ? hintsOf(name) : undefined;
    const args = span === undefined || action === 'read_resource' ? undefined : { body, span };
    const decision = policies.decide({ action, name, claims, hints, arguments: args });
    if (!decision.allowed) return action === 'extension' ? { allowed: false, denial: UNKNOWN_METHOD } : decision;
  }
  return { allowed: true };
}

// Classifies messages of a client: some need a decision by policies, some always pass. All other messages are refused,
// because an unknown method could have any effect. A policy can permit an unknown method as the method of an extension.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Message, RequestMessage } from '../../wire/message.ts';
import { METHODS } from '../../wire/methods.ts';
import { readValue } from '../../wire/scan.ts';
import type { Denial } from '../codes.ts';
import { readNotifications } from '../subscription.ts';
import type { CallDecision, Policies } from './decide.ts';
import type { PolicyAction, ToolHints } from './request.ts';

/** Action and target that policies decide on. */
interface PolicyTarget {
  readonly action: PolicyAction;
  readonly name: string;
}

export type MethodRule =
  | { readonly kind: 'passes' }
  | { readonly kind: 'unknown' }
  /** All targets must be allowed. */
  | { readonly kind: 'decided'; readonly targets: readonly PolicyTarget[] };

/** Methods that always pass. Lists pass because the gateway filters their results. */
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
 * Returns the rule for a client's message. Task methods are unknown to this function, because their messages do not
 * name the tool. proxy/tasks decides on task methods earlier.
 */
export function methodRule(body: Buffer, message: Message): MethodRule {
  if (message.kind === 'response') return PASSES;
  // Some servers execute a method even if the message has no id.
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
 * Returns whether a method may belong to an extension. A server could treat a method in a namespace of the protocol as
 * a method of the protocol, in any letter case. Policies cannot permit such a method as an extension.
 */
function isOfExtension(method: string): boolean {
  const [namespace = '', ...rest] = method.split('/');
  return rest.length > 0 && /^[\w.-]+(\/[\w.-]+)+$/.test(method) && !NAMESPACES.has(namespace.toLowerCase());
}

const NAMESPACES: ReadonlySet<string> = new Set(METHODS.map(({ method }) => method.split('/')[0] ?? method));

function decided(targets: readonly PolicyTarget[]): MethodRule {
  return { kind: 'decided', targets };
}

/**
 * Returns the rule for a completion. A completion shows values of a prompt or template, so the caller needs the
 * permission to use the prompt or template.
 */
function completionRule({ target }: RequestMessage): MethodRule {
  if (target?.refType === undefined) return UNKNOWN;
  return decided([{ action: target.refType === 'ref/prompt' ? 'get_prompt' : 'read_resource', name: target.value }]);
}

/**
 * Returns the rule for a filter that subscribes to resources. The targets are the same as for `resources/subscribe`
 * (MCP 2026-07-28, subscriptions/listen).
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

export interface PolicyCall {
  readonly body: Buffer;
  readonly message: Message;
  /** Claims of the caller, as in PolicyRequest. */
  readonly claims: JsonObject;
  /** Returns the hints of a tool by the name under which clients call it. */
  readonly hintsOf: (tool: string) => ToolHints | undefined;
}

const UNKNOWN_METHOD: Denial = {
  httpStatus: 403,
  rpcCode: 403,
  code: 'policy-method-unknown',
  message: 'Unauthorized: no policy permits this method.',
};

/** Decides on the client's message. Must be called before names are replaced. */
export function decideMessage(policies: Policies, { body, message, claims, hintsOf }: PolicyCall): CallDecision {
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

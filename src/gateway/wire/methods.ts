// Lists every method of every MCP revision and of the supported extensions, with its sender, its target, and the list
// in its result.

import assert from 'node:assert/strict';
import { SKILLS } from './extensions/identifiers.ts';
import type { Era } from './revisions.ts';

type Feature =
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'completion'
  | 'logging'
  | 'root'
  | 'sampling'
  | 'elicitation'
  | 'task'
  | 'subscription'
  | 'lifecycle';

/**
 * Key in `params` that names the target of the message. `ref` contains a prompt's name or a template's URI, depending
 * on its `type`.
 */
type TargetParam = 'name' | 'uri' | 'ref' | 'taskId';

/** Key in `params` of a notification whose value is a request id or a progress token. */
type ReferenceParam = 'requestId' | 'progressToken';

export type ListKey = 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'tasks' | 'roots' | 'skills';

/** List of a server that the gateway may filter for a client. */
export type FilteredKey = Exclude<ListKey, 'tasks' | 'roots'>;

export interface MethodFacts {
  readonly method: string;
  readonly notification: boolean;
  readonly sender: 'client' | 'server' | 'both';
  /**
   * Protocol eras (with sessions, stateless) that have the method as a message. In the stateless era, a server's
   * requests are parts of results (MCP 2026-07-28, multi round-trip).
   */
  readonly eras: readonly Era[];
  readonly feature: Feature;
  /** `call` for methods that run or read one target, `list` for methods that list items. */
  readonly kind: 'call' | 'list' | 'other';
  readonly target?: TargetParam;
  readonly refersTo?: ReferenceParam;
  /** Key of the array in the result of a list method. */
  readonly resultKey?: ListKey;
  /** True if `Mcp-Name` is required (MCP 2026-07-28, Streamable HTTP, Standard Request Headers; SEP-2663 for tasks). */
  readonly nameHeader: boolean;
  /** Identifier of the extension that adds the method. */
  readonly extension?: string;
}

const SESSION: readonly Era[] = ['session'];
const STATELESS: readonly Era[] = ['stateless'];
const EVERY: readonly Era[] = ['session', 'stateless'];

type Rest = Partial<Pick<MethodFacts, 'kind' | 'target' | 'refersTo' | 'resultKey' | 'nameHeader' | 'extension'>>;

function facts(
  method: string,
  sender: MethodFacts['sender'],
  eras: readonly Era[],
  feature: Feature,
  { kind = 'other', target, refersTo, resultKey, nameHeader = false, extension }: Rest = {},
): MethodFacts {
  const notification = method.startsWith('notifications/');
  return { method, notification, sender, eras, feature, kind, target, refersTo, resultKey, nameHeader, extension };
}

export const METHODS: readonly MethodFacts[] = [
  facts('initialize', 'client', SESSION, 'lifecycle'),
  facts('notifications/initialized', 'client', SESSION, 'lifecycle'),
  facts('ping', 'both', SESSION, 'lifecycle'),
  facts('server/discover', 'client', STATELESS, 'lifecycle'),
  facts('notifications/cancelled', 'both', EVERY, 'lifecycle', { refersTo: 'requestId' }),
  facts('notifications/progress', 'both', EVERY, 'lifecycle', { refersTo: 'progressToken' }),

  facts('tools/list', 'client', EVERY, 'tool', { kind: 'list', resultKey: 'tools' }),
  facts('tools/call', 'client', EVERY, 'tool', { kind: 'call', target: 'name', nameHeader: true }),
  facts('notifications/tools/list_changed', 'server', EVERY, 'tool'),

  facts('prompts/list', 'client', EVERY, 'prompt', { kind: 'list', resultKey: 'prompts' }),
  facts('prompts/get', 'client', EVERY, 'prompt', { kind: 'call', target: 'name', nameHeader: true }),
  facts('notifications/prompts/list_changed', 'server', EVERY, 'prompt'),

  facts('resources/list', 'client', EVERY, 'resource', { kind: 'list', resultKey: 'resources' }),
  facts('resources/templates/list', 'client', EVERY, 'resource', { kind: 'list', resultKey: 'resourceTemplates' }),
  facts('resources/read', 'client', EVERY, 'resource', { kind: 'call', target: 'uri', nameHeader: true }),
  facts('resources/subscribe', 'client', SESSION, 'resource', { kind: 'call', target: 'uri' }),
  facts('resources/unsubscribe', 'client', SESSION, 'resource', { kind: 'call', target: 'uri' }),
  facts('notifications/resources/list_changed', 'server', EVERY, 'resource'),
  facts('notifications/resources/updated', 'server', EVERY, 'resource', { target: 'uri' }),

  facts('completion/complete', 'client', EVERY, 'completion', { kind: 'call', target: 'ref' }),

  facts('logging/setLevel', 'client', SESSION, 'logging'),
  facts('notifications/message', 'server', EVERY, 'logging'),

  facts('roots/list', 'server', SESSION, 'root', { kind: 'list', resultKey: 'roots' }),
  facts('notifications/roots/list_changed', 'client', SESSION, 'root'),
  facts('sampling/createMessage', 'server', SESSION, 'sampling'),
  facts('elicitation/create', 'server', SESSION, 'elicitation'),
  facts('notifications/elicitation/complete', 'server', SESSION, 'elicitation'),

  facts('subscriptions/listen', 'client', STATELESS, 'subscription'),
  facts('notifications/subscriptions/acknowledged', 'server', STATELESS, 'subscription'),

  facts('tasks/get', 'both', EVERY, 'task', { kind: 'call', target: 'taskId', nameHeader: true }),
  facts('tasks/result', 'both', SESSION, 'task', { kind: 'call', target: 'taskId' }),
  facts('tasks/update', 'client', STATELESS, 'task', { kind: 'call', target: 'taskId', nameHeader: true }),
  facts('tasks/cancel', 'both', EVERY, 'task', { kind: 'call', target: 'taskId', nameHeader: true }),
  facts('tasks/list', 'both', SESSION, 'task', { kind: 'list', resultKey: 'tasks' }),
  facts('notifications/tasks/status', 'both', SESSION, 'task', { target: 'taskId' }),
  facts('notifications/tasks', 'server', STATELESS, 'task', { target: 'taskId' }),

  facts('skills/list', 'client', EVERY, 'resource', { kind: 'list', resultKey: 'skills', extension: SKILLS }),
  facts('skills/get', 'client', EVERY, 'resource', { kind: 'call', target: 'uri', extension: SKILLS }),
  facts('resources/directory/read', 'client', EVERY, 'resource', {
    kind: 'list',
    target: 'uri',
    resultKey: 'resources',
    extension: SKILLS,
  }),
];

const BY_METHOD: ReadonlyMap<string, MethodFacts> = new Map(METHODS.map((each) => [each.method, each]));

/** Returns the method whose result contains the list. */
export function methodOfList(key: FilteredKey): string {
  const found = METHODS.find(({ resultKey, target }) => resultKey === key && target === undefined);
  assert(found !== undefined, 'every list has a method');
  return found.method;
}

/** Returns undefined for a method that no revision has. Names are case-sensitive (JSON-RPC 2.0 section 4). */
export function methodFacts(method: string): MethodFacts | undefined {
  return BY_METHOD.get(method);
}

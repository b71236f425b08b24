// Decides by the current rules whether a client's message may pass, and builds the message for the server.

import type { JsonObject } from '#std/json.ts';
import type { KnownTools } from '../gate/known-tools.ts';
import type { Policies } from '../gate/policy/decide.ts';
import { decideMessage } from '../gate/policy/methods.ts';
import { ANONYMOUS_CLAIMS } from '../gate/policy/request.ts';
import { scopesForCall } from '../gate/policy/step-up.ts';
import { type ToolRules, unknownTool } from '../gate/tools.ts';
import type { LockKeeper, LockReading } from '../gate/tools-lock/keeper.ts';
import { heldBack, lockedTarget } from '../gate/tools-lock/target.ts';
import { ERRORS } from '../wire/errors.ts';
import type { Message } from '../wire/message.ts';
import { jsonString, patchBytes } from '../wire/patch.ts';
import { scanMessage } from '../wire/scan.ts';
import type { Caller } from './caller.ts';
import { denialRefusal, type Refusal, scopeRefusal } from './faults.ts';
import type { NamedResource } from './settings.ts';
import { admitTasks, TASK_UNKNOWN } from './tasks/requests.ts';
import type { MadeTask, TaskIds } from './tasks/task-ids.ts';

export interface AdmittedMessage {
  readonly message: Message;
  /** Bytes for the server: the client's bytes, with the name of the tool or id of the task as the server knows it. */
  readonly body: Buffer;
  /** Name of the tool, or id of the task, at the server. Absent if clients use the same text. */
  readonly backendName?: string;
  /** Name by which policies and records know the tool, if the client used another name. */
  readonly shownName?: string;
  /** Tool that the called tool calls in turn, or the tool that created the task. */
  readonly innerTool?: string;
  /** For a subscription: the client's ids of the subscribed tasks, by the server's ids. */
  readonly tasks?: ReadonlyMap<string, string>;
  /** Returns why the policies refuse `innerTool` to the caller. Returns undefined if they permit the call. */
  readonly innerRefusal?: () => RefusedMessage | undefined;
  readonly refusal?: undefined;
}

export interface RefusedMessage {
  readonly refusal: Refusal;
  /** Explanation for the operator, which the client does not get. */
  readonly detail?: string;
}

export interface RuleParts {
  readonly tools?: ToolRules;
  /** If absent, no reviewed definitions exist, and every definition passes. */
  readonly lock?: LockKeeper;
  readonly policies?: Policies;
  readonly known: KnownTools;
  /** If absent, clients get the server's own task ids. */
  readonly tasks?: TaskIds;
  /** If absent, callers are not authenticated, so refusals never request more scopes. */
  readonly resource?: NamedResource;
  /** Reports a list that the rules cannot read. `detail` is for the operator. */
  readonly unreadable: (detail: string) => void;
}

export interface ListScope {
  /** Key of the session, or of a caller without a session. */
  readonly scope: string;
  /** Reading of the list that the proxy requested for this message. */
  readonly reading?: LockReading | undefined;
}

/**
 * Returns the claims for policies. If policies read a provider's token that the caller does not have, the claims have
 * no subject.
 */
export function claimsOf(
  { token, claims, upstream }: Pick<Caller, 'token' | 'claims' | 'upstream'>,
  { upstreamProvider: provider }: Pick<Policies, 'upstreamProvider'>,
): JsonObject {
  if (provider === undefined) return token === undefined ? ANONYMOUS_CLAIMS : claims;
  return upstream?.provider === provider ? upstream.claims : UNKNOWN_CLAIMS;
}

/** Claims without a subject. Every policy denies them. */
const UNKNOWN_CLAIMS: JsonObject = {};

/**
 * Decides on a message. Checks the tool's name and the tools lock first. Then evaluates the policies, with the name
 * that the client uses.
 */
export function admit(
  parts: RuleParts,
  message: Message,
  body: Buffer,
  caller: Caller,
  lists: ListScope = { scope: caller.key },
): AdmittedMessage | RefusedMessage {
  const { tasks: ids } = parts;
  const refusalOf = (task: MadeTask) => taskRefusal(parts, task, caller);
  const tasks = ids && admitTasks({ ids, refusalOf }, message, body, caller);
  if (tasks === undefined) return admitOther(parts, message, body, { caller, ...lists });
  if (tasks.refusal !== undefined) return tasks;
  const { task, named, ...sent } = tasks;
  if (task !== undefined) return { ...sent, backendName: task.id, innerTool: task.tool };
  const admitted = admitOther(parts, sent.message, sent.body, { caller, ...lists });
  return admitted.refusal === undefined ? { ...admitted, tasks: named } : admitted;
}

/**
 * Returns why the task is refused. If the policies have changed since the call, the current policies decide on the tool
 * again, without arguments.
 */
function taskRefusal(
  { tools, policies, known, lock }: RuleParts,
  { tool: name, own, policies: digest }: MadeTask,
  caller: Caller,
): RefusedMessage | undefined {
  // The configuration now hides the tool, or gives its name to another tool.
  if (tools !== undefined && tools.ownName(name) !== own) return { refusal: TASK_UNKNOWN };
  if (lock?.enforces === true && !lock.knows('tools', own)) return { refusal: TASK_UNKNOWN };
  if (policies === undefined || policies.digest === digest) return undefined;
  const hints = known.hintsOf(name);
  const decision = policies.decide({ action: 'call_tool', name, claims: claimsOf(caller, policies), hints });
  return decision.allowed ? undefined : { refusal: denialRefusal(decision.denial), detail: decision.detail };
}

function admitOther(
  { tools, policies, known, resource, lock }: RuleParts,
  message: Message,
  body: Buffer,
  { caller, scope, reading }: { readonly caller: Caller } & ListScope,
): AdmittedMessage | RefusedMessage {
  // Some servers run a method even if the message has no id, and only omit the response.
  if (
    (tools !== undefined || lock?.enforces === true) &&
    message.kind === 'notification' &&
    !message.method.startsWith('notifications/')
  ) {
    return { refusal: NO_NOTIFICATION };
  }
  const target = message.kind === 'request' && message.method === 'tools/call' ? message.target : undefined;
  const own =
    target === undefined ? undefined : tools === undefined ? target.value : (tools.ownName(target.value) ?? NO_TOOL);
  if (own === NO_TOOL && target !== undefined) return { refusal: denialRefusal(unknownTool(target.value)) };
  const locked = lock?.enforces === true ? lockedTarget(message, () => (own === NO_TOOL ? undefined : own)) : undefined;
  if (locked !== undefined && lock?.permits(locked.list, locked.name, scope, reading) !== true) {
    return { refusal: denialRefusal(heldBack(locked)) };
  }
  if (policies !== undefined) {
    const call = { body, message, claims: claimsOf(caller, policies), hintsOf: known.hintsOf };
    const decision = decideMessage(policies, call);
    if (!decision.allowed) {
      const { denial, detail } = decision;
      // The gateway cannot request scopes for a provider's token.
      const isOwn = caller.token !== undefined && policies.upstreamProvider === undefined;
      const supported = isOwn ? resource?.scopesSupported : undefined;
      const scopes = supported && scopesForCall(policies, call, denial.code, supported);
      if (resource === undefined || scopes === undefined) return { refusal: denialRefusal(denial), detail };
      return { refusal: scopeRefusal(resource, scopes), detail };
    }
  }
  if (target === undefined || own === undefined || own === NO_TOOL || own === target.value) return { message, body };
  const renamed = patchBytes(body, [{ span: target.span, bytes: jsonString(own) }]);
  const again = scanMessage(renamed);
  return { message: again.ok ? again.message : message, body: renamed, backendName: own };
}

const NO_NOTIFICATION: Refusal = {
  status: 400,
  code: ERRORS.invalidRequest,
  message: 'A request needs an id.',
  reason: 'protocol-violated',
};

const NO_TOOL = Symbol('no tool of that name');

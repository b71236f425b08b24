// Decides by the current rules whether a message of a client may pass, and in which form the server gets it.

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

/** A message that may pass. */
export interface AdmittedMessage {
  readonly message: Message;
  /** The client's own bytes, with the tool's name at the server if it differs. */
  readonly body: Buffer;
  /** Name of the tool at the server, if it differs from the client's. */
  readonly backendName?: string;
  /** Name of the tool that clients know, if the client used another one. */
  readonly shownName?: string;
  /** Tool that the called tool calls in turn, or the tool that created the task. */
  readonly innerTool?: string;
  /** Client's ids of the subscribed tasks, by the server's ids. Set for a subscription. */
  readonly tasks?: ReadonlyMap<string, string>;
  /** Returns why the policies refuse the inner tool to the caller, or undefined if they permit the call. */
  readonly innerRefusal?: () => RefusedMessage | undefined;
  readonly refusal?: undefined;
}

export interface RefusedMessage {
  readonly refusal: Refusal;
  /** Detail for the operator. */
  readonly detail?: string;
}

export interface RuleParts {
  readonly tools?: ToolRules;
  /** If absent, no definitions were reviewed, and every definition passes. */
  readonly lock?: LockKeeper;
  readonly policies?: Policies;
  readonly known: KnownTools;
  /** If absent, clients get the server's own ids of tasks. */
  readonly tasks?: TaskIds;
  /** If absent, callers are not authenticated, so no caller can get a token with more scopes. */
  readonly resource?: NamedResource;
  /** Reports a list that is refused because it cannot be read. `detail` is for the operator. */
  readonly unreadable: (detail: string) => void;
}

/** Lists that apply to a message. */
export interface ListScope {
  /** Key that differs for each session, and for each caller without a session. */
  readonly scope: string;
  /** Reading of the list that was made for this message. */
  readonly reading?: LockReading | undefined;
}

/**
 * Returns the claims that policies see. Without the token that the policies rely on, these are claims without a
 * subject.
 */
export function claimsOf(
  { token, claims, upstream }: Pick<Caller, 'token' | 'claims' | 'upstream'>,
  { upstreamProvider: provider }: Pick<Policies, 'upstreamProvider'>,
): JsonObject {
  if (provider === undefined) return token === undefined ? ANONYMOUS_CLAIMS : claims;
  return upstream?.provider === provider ? upstream.claims : UNKNOWN_CLAIMS;
}

/** Claims without a subject, for which every policy denies. */
const UNKNOWN_CLAIMS: JsonObject = {};

/**
 * Decides on a message. Checks the tool's name first, then evaluates the policies with the name that the client sees.
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
 * Returns why the task is refused. The policies that permitted the call may have changed: then the current policies
 * decide on the tool again, without arguments.
 */
function taskRefusal(
  { tools, policies, known, lock }: RuleParts,
  { tool: name, own, policies: digest }: MadeTask,
  caller: Caller,
): RefusedMessage | undefined {
  // The tool is now hidden, or its name belongs to another tool.
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
  // Some servers would run a method even without an id, and only leave the answer out.
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
      // This gateway cannot request scopes for a provider's token.
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

// Decides by the rules in force whether a message of a client may pass, and in which form the server gets it.

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
  /** The client's own bytes, with another name in them if the tool has another one at the server. */
  readonly body: Buffer;
  /** Name of the tool at the server, if it differs from the client's. */
  readonly backendName?: string;
  /** Name of the tool that clients know, if the client called it by another one. */
  readonly shownName?: string;
  /** The tool that it calls calls this one; or the one that made the task. */
  readonly innerTool?: string;
  /** Of a subscription: the ids of tasks that the client named, by the ids of the server. */
  readonly tasks?: ReadonlyMap<string, string>;
  /** Why the caller may not call that one, by what policies say when it is asked; undefined where it may. */
  readonly innerRefusal?: () => RefusedMessage | undefined;
  readonly refusal?: undefined;
}

export interface RefusedMessage {
  readonly refusal: Refusal;
  /** For the operator. */
  readonly detail?: string;
}

export interface RuleParts {
  readonly tools?: ToolRules;
  /** Absent: nothing was reviewed, and every definition passes. */
  readonly lock?: LockKeeper;
  readonly policies?: Policies;
  readonly known: KnownTools;
  /** Absent: the ids of tasks stay those of the server. */
  readonly tasks?: TaskIds;
  /** Absent: callers are not authenticated, so none can get a token with more scopes. */
  readonly resource?: NamedResource;
  /** A list that cannot be read is refused; `detail` is for the operator. */
  readonly unreadable: (detail: string) => void;
}

/** The lists that count for a message. */
export interface ListScope {
  /** Differs for each session, and for each caller without one. */
  readonly scope: string;
  /** Made for this message. */
  readonly reading?: LockReading | undefined;
}

/** The part of a caller that policies see. Without the token that they count on, nothing is known of the caller. */
export function claimsOf(
  { token, claims, upstream }: Pick<Caller, 'token' | 'claims' | 'upstream'>,
  { upstreamProvider: provider }: Pick<Policies, 'upstreamProvider'>,
): JsonObject {
  if (provider === undefined) return token === undefined ? ANONYMOUS_CLAIMS : claims;
  return upstream?.provider === provider ? upstream.claims : UNKNOWN_CLAIMS;
}

/** Without a subject, every policy denies. */
const UNKNOWN_CLAIMS: JsonObject = {};

/** The tool's name first, then the policies on the name that the client sees. */
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

/** Policies permitted the call that made the task; others decide again about its tool, without arguments. */
function taskRefusal(
  { tools, policies, known, lock }: RuleParts,
  { tool: name, own, policies: digest }: MadeTask,
  caller: Caller,
): RefusedMessage | undefined {
  // It is hidden now, or is the name of another tool.
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
  // Without an id some servers would run a method all the same, and only leave the answer out.
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
      // Scopes of a provider's token are not given out here.
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

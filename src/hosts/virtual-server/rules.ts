// Keeps the current policies from a virtual server's configuration.

import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import { createKnownTools, hintsFrom } from '#gateway/gate/known-tools.ts';
import { compileForbids } from '#gateway/gate/policy/compile.ts';
import type { Policies } from '#gateway/gate/policy/decide.ts';
import { claimsOf } from '#gateway/proxy/admit.ts';
import type { Caller } from '#gateway/proxy/caller.ts';
import type { ChangedList, LiveRules } from '#gateway/proxy/lists/live-stream.ts';
import { createRules, type Rules } from '#gateway/proxy/rules.ts';
import type { NamedResource } from '#gateway/proxy/settings.ts';
import { createTaskIds } from '#gateway/proxy/tasks/task-ids.ts';
import type { Offer } from '#gateway/virtual-server/catalogue/assemble.ts';
import { CALL_TOOL, FIND_TOOL } from '#gateway/virtual-server/optimizer/definitions.ts';
import { readInnerCall } from '#gateway/virtual-server/optimizer/inner-call.ts';
import type { ToolRoute } from '#gateway/virtual-server/own-tools/ports.ts';
import { patchTarget } from '#gateway/wire/ids.ts';
import type { Message, RequestMessage } from '#gateway/wire/message.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import type { SessionSeal } from '#gateway/wire/seal.ts';
import { jsonEquals } from '#std/json.ts';
import { proxyClock } from '../proxy/clock.ts';
import { policiesOf, policyFileOf, readAuthz, usable } from './policies.ts';

type KnownTool = Pick<ToolRoute, 'name' | 'definition'>;

export interface VirtualRules extends LiveRules {
  /**
   * Applies the policies of a new configuration. If they cannot be used, throws Failure `policy-file-invalid` and
   * changes nothing.
   */
  replace(config: VmcpConfig): void;
  /** Stores the tools that clients see, because policies may read hints of tools. */
  learn(tools: readonly KnownTool[]): void;
  /**
   * Returns a function that says whether policies permit the caller to call a tool, whatever the arguments. undefined
   * if all tools are permitted.
   */
  permittedTools(cause: Exchange): ((tool: string) => boolean) | undefined;
  /** Returns the reason why the caller may not call a workflow; undefined if the call is permitted. */
  denial(cause: Exchange, body: Buffer, message: RequestMessage): string | undefined;
}

type IncomingAuth = VmcpConfig['incomingAuth'];

const LISTS: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

export interface VirtualRuleParts {
  readonly logger: Logger;
  /** Seals ids of tasks. */
  readonly seal: SessionSeal;
  /** Returns the list of tools that was last sent to the caller; undefined if no list is known. */
  readonly lastOffer: (caller: string) => Pick<Offer, 'tools' | 'appTool'> | undefined;
}

/** Throws Failure `policy-file-invalid`. */
export function openVirtualRules(config: VmcpConfig, parts: VirtualRuleParts): VirtualRules {
  const { incomingAuth, optimizer } = config;
  const { logger, seal, lastOffer } = parts;
  const tasks = createTaskIds(seal, proxyClock.now);
  const known = createKnownTools();
  const unreadable = (detail: string) => logger.warn({ code: 'list-unreadable', detail }, 'a list was refused');
  const listeners = new Set<(lists: readonly ChangedList[]) => void>();
  let from = incomingAuth;
  let authz = readAuthz(config);
  let policies = policiesOf(authz);
  let rules = makeRules(policies);
  let shown = optimizer === undefined ? nameAppTools(rules, lastOffer) : optimizerRules();
  let tools: readonly KnownTool[] = [];

  function makeRules(decidedBy: Policies | undefined): Rules {
    return createRules({ policies: decidedBy, known, tasks, resource: namedResourceOf(from), unreadable });
  }

  /** Returns rules for `find_tool` and `call_tool`, and for the tools that `call_tool` calls. */
  function optimizerRules(): Rules {
    return namingInnerTools(makeRules(policies && openOptimizer(policies, authz)), rules);
  }

  function learn(): void {
    if (policies?.readsHints !== true) return;
    for (const { name, definition } of tools)
      known.learn(name, hintsFrom(JSON.parse(definition.toString()).annotations));
    known.markComplete();
  }

  return {
    current: () => shown,
    onChange(task) {
      listeners.add(task);
      return () => void listeners.delete(task);
    },
    learn(offered) {
      tools = offered;
      learn();
    },
    replace(changed) {
      const { incomingAuth: next, optimizer: other } = changed;
      const nextAuthz = readAuthz(changed);
      const same = jsonEquals(from, next) && jsonEquals(authz, nextAuthz);
      if (!same) {
        policies = policiesOf(nextAuthz);
        authz = nextAuthz;
        from = next;
        rules = makeRules(policies);
      }
      shown = other === undefined ? nameAppTools(rules, lastOffer) : optimizerRules();
      if (same) return;
      learn();
      for (const listener of [...listeners]) listener(LISTS);
    },
    permittedTools({ identity = NOBODY }) {
      const current = policies;
      if (current === undefined) return undefined;
      const claims = claimsOf({ token: undefined, ...identity }, current);
      return (name) => current.decide({ action: 'call_tool', name, claims, hints: known.hintsOf(name) }).allowed;
    },
    denial({ caller: key, identity = NOBODY }, body, message) {
      return rules.admit(message, body, { key, subject: '', ...identity }).refusal?.message;
    },
  };
}

/**
 * Returns policies that permit `find_tool` and `call_tool` unless a `forbid` applies to them. They need no `permit`,
 * because policies decide about each tool that is found or called through them.
 */
function openOptimizer(policies: Policies, authz: IncomingAuth['authz']): Policies {
  const tools = [FIND_TOOL, CALL_TOOL];
  const forbids = usable(compileForbids(policyFileOf(authz), tools));
  return {
    ...policies,
    decide: (request) =>
      request.action === 'call_tool' && tools.includes(request.name)
        ? forbids.decide(request)
        : policies.decide(request),
  };
}

/** Returns rules whose records name the tool that `call_tool` calls. `inner` decides about that tool. */
function namingInnerTools(outer: Rules, inner: Rules): Rules {
  return {
    ...outer,
    admit(message, body, caller) {
      const admitted = outer.admit(message, body, caller);
      if (admitted.refusal !== undefined || message.kind !== 'request' || message.target?.value !== CALL_TOOL) {
        return admitted;
      }
      const called = readInnerCall(body, message);
      if (!called.ok) return admitted;
      const innerRefusal = () => {
        const asked = inner.admit(called.message, called.body, caller);
        return asked.refusal === undefined ? undefined : asked;
      };
      return { ...admitted, innerTool: called.tool, innerRefusal };
    },
  };
}

/**
 * Returns rules that accept calls of a user interface, which names tools as their own server does (SEP-1865). Such a
 * call is handled like a call with the name that clients use.
 */
function nameAppTools(rules: Rules, lastOffer: VirtualRuleParts['lastOffer']): Rules {
  const read = new WeakMap<Message, AppCall | undefined>();
  function appCallOf(message: Message | undefined, body: Buffer | undefined, caller: Caller): AppCall | undefined {
    if (message === undefined || body === undefined || !isCall(message)) return undefined;
    if (!read.has(message)) read.set(message, readAppCall(lastOffer(caller.key), message, body));
    return read.get(message);
  }
  return {
    ...rules,
    needsList(message, body, caller, scope) {
      if (isCall(message) && lastOffer(caller.key) === undefined)
        return rules.needsList(message, body, caller, scope) ?? { need: 'names', list: 'tools' };
      return rules.needsList(appCallOf(message, body, caller)?.message ?? message, body, caller, scope);
    },
    admit(message, body, caller) {
      const call = appCallOf(message, body, caller);
      if (call === undefined) return rules.admit(message, body, caller);
      const admitted = rules.admit(call.message, call.body, caller);
      return admitted.refusal === undefined ? { ...admitted, backendName: call.tool, shownName: call.tool } : admitted;
    },
    answers(message, body, caller) {
      const call = appCallOf(message, body, caller);
      return rules.answers(call?.message ?? message, call?.body ?? body, caller);
    },
  };
}

interface AppCall {
  /** Name of the tool for clients. */
  readonly tool: string;
  readonly message: RequestMessage;
  readonly body: Buffer;
}

function isCall(message: Message): message is RequestMessage {
  return message.kind === 'request' && message.method === 'tools/call';
}

/** Returns undefined if clients see a tool with this name, or if the name belongs to no tool or to several tools. */
function readAppCall(
  offer: ReturnType<VirtualRuleParts['lastOffer']>,
  message: RequestMessage,
  body: Buffer,
): AppCall | undefined {
  const name = message.target?.value;
  const isSeen = name === undefined || offer?.tools.get(name)?.advertised === true;
  const tool = isSeen ? undefined : offer?.appTool(name);
  if (tool === undefined) return undefined;
  const renamed = patchTarget(body, message, tool);
  const scanned = scanMessage(renamed);
  assert(scanned.ok && scanned.message.kind === 'request', 'a renamed call is still a call');
  return { tool, message: scanned.message, body: renamed };
}

const NOBODY = { claims: {} } as const;

function namedResourceOf({ type, oidc }: IncomingAuth): NamedResource | undefined {
  if (type !== 'oidc') return undefined;
  assert(oidc !== undefined, 'a rule of the configuration requires the block that its type names');
  return { realm: oidc.issuer, resourceUrl: oidc.resource, scopesSupported: oidc.scopes };
}

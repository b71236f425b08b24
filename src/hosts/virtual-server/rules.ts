// The policies of a virtual server as its configuration says now.

import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import { createKnownTools, hintsFrom } from '#gateway/gate/known-tools.ts';
import { compilePolicies } from '#gateway/gate/policy/compile.ts';
import type { Policies } from '#gateway/gate/policy/decide.ts';
import type { ChangedList, LiveRules } from '#gateway/proxy/lists/live-stream.ts';
import { claimsOf, createRules, type Rules } from '#gateway/proxy/rules.ts';
import type { NamedResource } from '#gateway/proxy/settings.ts';
import { CALL_TOOL } from '#gateway/virtual-server/optimizer/definitions.ts';
import { readInnerCall } from '#gateway/virtual-server/optimizer/inner-call.ts';
import type { ToolRoute } from '#gateway/virtual-server/own-tools/ports.ts';
import type { RequestMessage } from '#gateway/wire/message.ts';
import { Failure } from '#std/failure.ts';
import { jsonEquals } from '#std/json.ts';

type KnownTool = Pick<ToolRoute, 'name' | 'definition'>;

export interface VirtualRules extends LiveRules {
  /** Throws Failure `policy-file-invalid` where the policies of another configuration cannot be used: nothing changes. */
  replace(config: VmcpConfig): void;
  /** Tools as clients see them, or would: policies may read their hints. */
  learn(tools: readonly KnownTool[]): void;
  /** The tools that a caller may call, whatever the arguments; undefined: all of them. */
  permittedTools(cause: Exchange): ((tool: string) => boolean) | undefined;
  /** Why a call of a workflow is not permitted to its caller; undefined where it is. */
  denial(cause: Exchange, body: Buffer, message: RequestMessage): string | undefined;
}

type IncomingAuth = VmcpConfig['incomingAuth'];

const LISTS: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

/** Throws Failure `policy-file-invalid`. */
export function openVirtualRules({ incomingAuth, optimizer }: VmcpConfig, logger: Logger): VirtualRules {
  const known = createKnownTools();
  const unreadable = (detail: string) => logger.warn({ code: 'list-unreadable', detail }, 'a list was refused');
  const listeners = new Set<(lists: readonly ChangedList[]) => void>();
  let from = incomingAuth;
  let policies = policiesOf(from.authz);
  let rules = createRules({ policies, known, resource: namedResourceOf(from), unreadable });
  let shown = optimizer === undefined ? rules : namingInnerTools(rules);
  let tools: readonly KnownTool[] = [];

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
    replace({ incomingAuth: next, optimizer: other }) {
      const same = jsonEquals(from, next);
      if (!same) {
        policies = policiesOf(next.authz);
        from = next;
        rules = createRules({ policies, known, resource: namedResourceOf(from), unreadable });
      }
      shown = other === undefined ? rules : namingInnerTools(rules);
      if (same) return;
      learn();
      for (const listener of [...listeners]) listener(LISTS);
    },
    permittedTools({ caller: key, identity = NOBODY }) {
      const current = policies;
      if (current === undefined) return undefined;
      const claims = claimsOf({ key, subject: '', ...identity });
      return (name) => current.decide({ action: 'call_tool', name, claims, hints: known.hintsOf(name) }).allowed;
    },
    denial({ caller: key, identity = NOBODY }, body, message) {
      return rules.admit(message, body, { key, subject: '', ...identity }).refusal?.message;
    },
  };
}

/** What is kept of a request names the tool that `call_tool` calls. */
function namingInnerTools(rules: Rules): Rules {
  return {
    ...rules,
    admit(message, body, caller) {
      const admitted = rules.admit(message, body, caller);
      if (admitted.refusal !== undefined || message.kind !== 'request' || message.target?.value !== CALL_TOOL) {
        return admitted;
      }
      const inner = readInnerCall(body, message);
      if (!inner.ok) return admitted;
      const innerRefusal = () => {
        const asked = rules.admit(inner.message, inner.body, caller);
        return asked.refusal === undefined ? undefined : asked;
      };
      return { ...admitted, innerTool: inner.tool, innerRefusal };
    },
  };
}

const NOBODY = { claims: {} } as const;

function namedResourceOf({ type, oidc }: IncomingAuth): NamedResource | undefined {
  if (type !== 'oidc') return undefined;
  assert(oidc !== undefined, 'a rule of the configuration demands the block that its type names');
  return { realm: oidc.issuer, resourceUrl: oidc.resource, scopesSupported: oidc.scopes };
}

/** Throws Failure `policy-file-invalid` with every fault. */
export function checkPolicies({ incomingAuth }: VmcpConfig): void {
  policiesOf(incomingAuth.authz);
}

function policiesOf({ type, policies = [], entitiesJson }: IncomingAuth['authz']): Policies | undefined {
  if (type === 'none') return undefined;
  const cedar = { policies: [...policies], entities_json: entitiesJson };
  const compiled = compilePolicies({ version: '1.0', type: 'cedarv1', cedar });
  if (compiled.ok) return compiled.policies;
  const words = compiled.faults.map(({ message }) => message).join('; ');
  throw new Failure('policy-file-invalid', `/incomingAuth/authz/policies: ${words}`);
}

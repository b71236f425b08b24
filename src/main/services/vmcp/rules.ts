// The policies of a virtual server as its configuration says now.

import type { Logger } from 'pino';
import type { VmcpConfig } from '../../../contracts/vmcp-config.ts';
import { createKnownTools } from '../../../gate/known-tools.ts';
import { compilePolicies } from '../../../gate/policy/compile.ts';
import type { Policies } from '../../../gate/policy/decide.ts';
import type { ChangedList, LiveRules } from '../../../proxy/lists/live-stream.ts';
import { createRules } from '../../../proxy/rules.ts';
import { Failure } from '../../../std/failure.ts';
import { jsonEquals } from '../../../std/json.ts';

export interface VirtualRules extends LiveRules {
  /** Throws Failure `policy-file-invalid` where the policies of another configuration cannot be used: nothing changes. */
  replace(config: VmcpConfig): void;
}

type Authz = VmcpConfig['incomingAuth']['authz'];

const LISTS: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

/** Throws Failure `policy-file-invalid`. */
export function openVirtualRules({ incomingAuth }: VmcpConfig, logger: Logger): VirtualRules {
  const known = createKnownTools();
  const unreadable = (detail: string) => logger.warn({ code: 'list-unreadable', detail }, 'a list was refused');
  const listeners = new Set<(lists: readonly ChangedList[]) => void>();
  let authz = incomingAuth.authz;
  let rules = createRules({ policies: policiesOf(authz), known, unreadable });
  return {
    current: () => rules,
    onChange(task) {
      listeners.add(task);
      return () => void listeners.delete(task);
    },
    replace({ incomingAuth: { authz: next } }) {
      if (jsonEquals(authz, next)) return;
      rules = createRules({ policies: policiesOf(next), known, unreadable });
      authz = next;
      for (const listener of [...listeners]) listener(LISTS);
    },
  };
}

/** Throws Failure `policy-file-invalid` with every fault. */
export function checkPolicies({ incomingAuth }: VmcpConfig): void {
  policiesOf(incomingAuth.authz);
}

function policiesOf({ type, policies = [], entitiesJson }: Authz): Policies | undefined {
  if (type === 'none') return undefined;
  const cedar = { policies: [...policies], entities_json: entitiesJson };
  const compiled = compilePolicies({ version: '1.0', type: 'cedarv1', cedar });
  if (compiled.ok) return compiled.policies;
  const words = compiled.faults.map(({ message }) => message).join('; ');
  throw new Failure('policy-file-invalid', `/incomingAuth/authz/policies: ${words}`);
}

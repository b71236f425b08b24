// What an MCPServer's conditions say, Ready apart (kinds.md 1.6). Knows nothing about their history.

import { isObject } from '../../std/json.ts';
import type { Observed } from '../kind.ts';
import type { Verdict } from '../shared/conditions.ts';
import { imageVerdict } from '../shared/image-verdict.ts';
import { podTemplateVerdict } from '../shared/pod-template-verdict.ts';
import { isStdio, type Server } from './facts.ts';

export function verdicts(self: Server, observed: Observed): readonly Verdict[] {
  return [
    ...groupVerdict(self, observed),
    ...bundleVerdict(self, observed),
    stdioVerdict(self),
    sessionVerdict(self),
    ...podTemplateVerdict(self.spec.podTemplateSpec, observed.refusals),
    imageVerdict(observed),
  ];
}

/** A group is as good as ready when it exists: its readiness only says that its members were counted. */
function groupVerdict({ spec }: Server, { view }: Observed): readonly Verdict[] {
  if (spec.groupRef === undefined) return [];
  const type = 'GroupRefValidated';
  const group = view.find('MCPGroup', spec.groupRef);
  if (group === undefined) {
    const message = `MCPGroup ${spec.groupRef} does not exist in this namespace`;
    return [{ type, status: 'False', reason: 'GroupRefNotFound', message }];
  }
  if (isObject(group.status) && group.status.phase === 'Failed') {
    return [{ type, status: 'False', reason: 'GroupRefNotReady', message: `MCPGroup ${spec.groupRef} has failed` }];
  }
  return [{ type, status: 'True', reason: 'GroupRefIsValid', message: `MCPGroup ${spec.groupRef} exists` }];
}

function bundleVerdict({ spec }: Server, { view }: Observed): readonly Verdict[] {
  const { inline, configMap } = spec.oidcConfig ?? {};
  const ref = (inline ?? configMap)?.caBundleRef?.configMapRef;
  if (ref === undefined) return [];
  const type = 'CABundleRefValidated';
  const { name, key } = ref;
  const found = view.find('ConfigMap', name);
  if (found === undefined) {
    return [{ type, status: 'False', reason: 'CABundleRefNotFound', message: `ConfigMap ${name} does not exist` }];
  }
  if (!isObject(found.data) || found.data[key] === undefined) {
    return [{ type, status: 'False', reason: 'CABundleRefInvalid', message: `ConfigMap ${name} has no key ${key}` }];
  }
  return [{ type, status: 'True', reason: 'CABundleRefValid', message: `ConfigMap ${name} has the key ${key}` }];
}

function stdioVerdict({ spec }: Server): Verdict {
  const type = 'StdioReplicaCapped';
  if (isStdio(spec) && Math.max(spec.replicas ?? 0, spec.backendReplicas ?? 0) > 1) {
    const message = 'a server on standard streams is one process: replicas and backendReplicas are held at 1';
    return { type, status: 'True', reason: 'StdioTransportCapAt1', message };
  }
  return { type, status: 'False', reason: 'StdioReplicaCapNotActive', message: 'replicas are as wanted' };
}

function sessionVerdict({ spec }: Server): Verdict {
  const type = 'SessionStorageWarning';
  if (spec.sessionStorage?.provider === 'redis') {
    const message = 'sessions are kept in Redis';
    return { type, status: 'False', reason: 'SessionStorageConfigured', message };
  }
  if ((spec.replicas ?? 0) > 1 && !isStdio(spec)) {
    const message =
      'several proxies each keep their own sessions: set sessionStorage to redis, or rely on sessionAffinity';
    return { type, status: 'True', reason: 'SessionStorageMissingForReplicas', message };
  }
  const message = 'no more than one proxy is asked for';
  return { type, status: 'False', reason: 'SessionStorageWarningNotApplicable', message };
}

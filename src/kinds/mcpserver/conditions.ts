// What an MCPServer's conditions say, Ready apart (kinds.md 1.6). Knows nothing about their history.

import type { Observed } from '../kind.ts';
import type { Verdict } from '../shared/conditions.ts';
import { imageVerdict } from '../shared/image-verdict.ts';
import { podTemplateVerdict } from '../shared/pod-template-verdict.ts';
import { bundleVerdict, groupVerdict } from '../shared/proxy-verdicts.ts';
import { isStdio, type Server } from './facts.ts';

export function verdicts(self: Server, observed: Observed): readonly Verdict[] {
  return [
    ...groupVerdict(self.spec.groupRef, observed.view),
    ...bundleVerdict(self.spec.oidcConfig, observed.view),
    stdioVerdict(self),
    sessionVerdict(self),
    ...podTemplateVerdict(self.spec.podTemplateSpec, observed.refusals),
    imageVerdict(observed),
  ];
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

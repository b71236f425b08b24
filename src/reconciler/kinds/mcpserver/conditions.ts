// Computes the conditions of an MCPServer, except Ready.

import { formatDuration } from '#std/duration.ts';
import type { ConditionResult } from '../conditions.ts';
import type { Observed, View } from '../kind.ts';
import { imageCondition } from '../pods/image-condition.ts';
import { podTemplateConditions } from '../pods/pod-template-conditions.ts';
import { workloadState } from '../pods/workload.ts';
import { accountsConditions, bundleConditions, groupConditions } from '../proxy/conditions.ts';
import { NO_SESSIONS, sessionCondition } from '../proxy/session-condition.ts';
import { settingsConditions } from '../shared-settings.ts';
import { toolsLockCondition } from '../tools-lock.ts';
import { proxyReplicas, type Server, serverChildNames, serverReplicas, sleepOf } from './facts.ts';
import { profileOf } from './permission-profile.ts';

export function serverConditions(self: Server, observed: Observed): readonly ConditionResult[] {
  return [
    ...groupConditions(self.spec.groupRef, observed.view),
    ...bundleConditions(self.spec.oidcConfig, observed.view),
    ...accountsConditions(self.spec, observed),
    ...settingsConditions(self.spec, observed.refusals),
    stdioCondition(self),
    // The proxy of a server over streamable HTTP stores no sessions.
    self.spec.transport === 'streamable-http'
      ? NO_SESSIONS
      : sessionCondition(self.spec.sessionStorage, proxyReplicas(self), ['proxy', 'proxies']),
    ...podTemplateConditions(self.spec.podTemplateSpec, observed.refusals),
    ...sleepConditions(self, observed.view),
    imageCondition(observed),
    ...toolsLockCondition(self.resource, observed.view),
    ...profileConditions(self, observed.view),
  ];
}

function stdioCondition(self: Server): ConditionResult {
  const type = 'StdioReplicaCapped';
  const { replicas, backendReplicas } = self.spec;
  const held = [
    ...(replicas === proxyReplicas(self) ? [] : ['replicas']),
    ...(backendReplicas === serverReplicas(self) ? [] : ['backendReplicas']),
  ];
  if (held.length > 0) {
    const are = held.length > 1 ? 'are' : 'is';
    const message = `a server on standard streams is one process, with one proxy: ${held.join(' and ')} ${are} kept at 1`;
    return { type, status: 'True', reason: 'StdioTransportCapAt1', message };
  }
  return { type, status: 'False', reason: 'StdioReplicaCapNotActive', message: 'replicas are as declared' };
}

/** Returns whether a server that may sleep is asleep. */
function sleepConditions(self: Server, view: View): readonly ConditionResult[] {
  const times = sleepOf(self);
  if (times === undefined) return [];
  const type = 'Sleeping';
  const { state } = workloadState(view, 'StatefulSet', serverChildNames(self.name).statefulSet);
  if (state === 'stopped') {
    return [{ type, status: 'True', reason: 'NoCalls', message: 'the server has no pods until the next call' }];
  }
  const message = `the server sleeps after ${formatDuration(times.afterSeconds * 1000)} without calls and open streams`;
  return [{ type, status: 'False', reason: 'Awake', message }];
}

/** Returns the condition about the permission profile. A network plugin may ignore the NetworkPolicy. */
function profileConditions(self: Server, view: View): readonly ConditionResult[] {
  const type = 'PermissionProfileEnforced';
  const profile = profileOf(self, view);
  if (profile === undefined) return [];
  if ('fault' in profile)
    return [{ type, status: 'False', reason: 'PermissionProfileInvalid', message: profile.fault }];
  const { outbound, unenforced } = profile;
  if (unenforced.length > 0) {
    return [{ type, status: 'False', reason: 'PermissionProfileUnenforceable', message: unenforced.join('; ') }];
  }
  const message = outbound.all
    ? 'the profile limits no egress'
    : `NetworkPolicy ${serverChildNames(self.name).egressPolicy} limits egress, if the network plugin enforces policies`;
  return [{ type, status: 'True', reason: 'PermissionProfileEnforced', message }];
}

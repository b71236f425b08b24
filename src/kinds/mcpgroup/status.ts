// Who is in a group. Knows nothing about the members' health: an MCPGroup is ready when its members are known.

import { isObject } from '../../std/json.ts';
import type { Static } from '../../std/schema.ts';
import { conditionsOf, observedGeneration } from '../conditions.ts';
import type { Typed } from '../define.ts';
import type { Observed, View } from '../kind.ts';
import type { MCPGroupSpec, MCPGroupStatus } from './schema.ts';

/** Sorted names of the kind's objects whose `spec.groupRef` is the group. */
function members(view: View, kind: string, group: string): string[] {
  return view
    .all(kind)
    .filter(({ spec }) => isObject(spec) && spec.groupRef === group)
    .map((member) => member.metadata.name)
    .sort();
}

export function status(self: Typed<typeof MCPGroupSpec>, observed: Observed): Static<typeof MCPGroupStatus> {
  const servers = members(observed.view, 'MCPServer', self.name);
  const remoteProxies = members(observed.view, 'MCPRemoteProxy', self.name);
  const count = `${servers.length} servers, ${remoteProxies.length} remote proxies`;
  return {
    ...observedGeneration(self.resource),
    phase: 'Ready',
    servers,
    serverCount: servers.length,
    remoteProxies,
    remoteProxyCount: remoteProxies.length,
    conditions: conditionsOf(
      self.resource,
      [
        { type: 'MCPServersChecked', status: 'True', reason: 'ListMCPServersCheckSucceeded', message: count },
        { type: 'Ready', status: 'True', reason: 'MembersKnown', message: count },
      ],
      observed,
    ),
  };
}

// Computes the status of an MCPGroup, which lists its members.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { countText } from '#std/words/count-text.ts';
import { referredName } from '../aliases.ts';
import { conditionsOf, observedGeneration } from '../conditions.ts';
import type { Typed } from '../define.ts';
import type { Observed, View } from '../kind.ts';
import type { MCPGroupSpec, MCPGroupStatus } from './schema.ts';

/** Returns the names of the kind's objects whose `spec.groupRef` names the group, sorted. */
function members(view: View, kind: string, group: string): string[] {
  return view
    .all(kind)
    .filter(({ spec }) => isObject(spec) && referredName(spec.groupRef) === group)
    .map((member) => member.metadata.name)
    .sort();
}

export function status(self: Typed<typeof MCPGroupSpec>, observed: Observed): Static<typeof MCPGroupStatus> {
  const unknown = ['MCPServer', 'MCPRemoteProxy', 'MCPServerEntry'].filter(
    (kind) => observed.unlisted?.has(kind) === true,
  );
  if (unknown.length > 0) return unknownStatus(self, unknown, observed);
  const servers = members(observed.view, 'MCPServer', self.name);
  const remoteProxies = members(observed.view, 'MCPRemoteProxy', self.name);
  const entries = members(observed.view, 'MCPServerEntry', self.name);
  const count = [
    countText(servers.length, 'server'),
    countText(remoteProxies.length, 'remote proxy', 'remote proxies'),
    ...(entries.length === 0 ? [] : [countText(entries.length, 'entry', 'entries')]),
  ].join(', ');
  return {
    ...observedGeneration(self.resource),
    phase: 'Ready',
    servers,
    serverCount: servers.length,
    remoteProxies,
    remoteProxyCount: remoteProxies.length,
    ...(entries.length === 0 ? {} : { entries, entryCount: entries.length }),
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

/** Returns a failed status that keeps the members of the previous status, because some kinds could not be listed. */
function unknownStatus(
  { resource }: Typed<typeof MCPGroupSpec>,
  unknown: readonly string[],
  observed: Observed,
): Static<typeof MCPGroupStatus> {
  const message = `the members of the group are unknown: ${unknown.join(' and ')} could not be listed`;
  return {
    ...resource.status,
    ...observedGeneration(resource),
    phase: 'Failed',
    conditions: conditionsOf(
      resource,
      [
        { type: 'MCPServersChecked', status: 'False', reason: 'ListMCPServersCheckFailed', message },
        { type: 'Ready', status: 'False', reason: 'MembersUnknown', message },
      ],
      observed,
    ),
  };
}

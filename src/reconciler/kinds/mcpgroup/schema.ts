// Every field of MCPGroup.

import { choice, integer, list, object, optional, text } from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';

export const MCPGroupSpec = object(
  {
    description: optional(text('What the members of the group have in common, for people.')),
  },
  'The desired state of the group. Servers, proxies and entries join it by naming it in their groupRef.',
);

export const MCPGroupStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the group that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: choice('Ready once the members are known. An empty group is ready.', ['Ready', 'Pending', 'Failed'], {
      default: 'Pending',
    }),
    servers: optional(list(text('Name of an MCPServer.'), 'Names of the MCPServers in the group, sorted.')),
    serverCount: optional(integer('How many MCPServers are in the group.', { minimum: 0 })),
    remoteProxies: optional(
      list(text('Name of an MCPRemoteProxy.'), 'Names of the MCPRemoteProxies in the group, sorted.'),
    ),
    remoteProxyCount: optional(integer('How many MCPRemoteProxies are in the group.', { minimum: 0 })),
    entries: optional(list(text('Name of an MCPServerEntry.'), 'Names of the MCPServerEntries in the group, sorted.')),
    entryCount: optional(integer('How many MCPServerEntries are in the group.', { minimum: 0 })),
    conditions: optional(ConditionsSchema),
  },
  'The group as it was last seen.',
);

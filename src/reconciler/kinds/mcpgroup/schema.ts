// Defines every field of MCPGroup.

import { choice, integer, list, object, optional, text } from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';

export const MCPGroupSpec = object(
  {
    description: optional(text('Common property of the members of the group, for people.')),
  },
  'The desired state of the group. Servers, proxies and entries join it by their groupRef.',
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
    serverCount: optional(integer('Number of MCPServers in the group.', { minimum: 0 })),
    remoteProxies: optional(
      list(text('Name of an MCPRemoteProxy.'), 'Names of the MCPRemoteProxies in the group, sorted.'),
    ),
    remoteProxyCount: optional(integer('Number of MCPRemoteProxies in the group.', { minimum: 0 })),
    entries: optional(list(text('Name of an MCPServerEntry.'), 'Names of the MCPServerEntries in the group, sorted.')),
    entryCount: optional(integer('Number of MCPServerEntries in the group.', { minimum: 0 })),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the group.',
);

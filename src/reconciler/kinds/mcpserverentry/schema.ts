// Defines every field of MCPServerEntry.

import { REMOTE_URL } from '#contracts/proxy-fields.ts';
import { bool, choice, integer, object, optional } from '#std/schema.ts';
import { caBundleRef } from '../auth/ca-bundle.ts';
import { HeaderForward } from '../auth/header-forward.ts';
import { ConditionsSchema } from '../conditions.ts';
import { namedRef } from '../selectors.ts';

export const MCPServerEntrySpec = object(
  {
    remoteUrl: REMOTE_URL,
    transport: choice('Transport of the remote server.', ['sse', 'streamable-http']),
    groupRef: namedRef('The MCPGroup that the server belongs to, in the same namespace.', 'MCPGroup'),
    externalAuthConfigRef: optional(
      namedRef('Authentication of virtual servers to the remote server.', 'MCPExternalAuthConfig'),
    ),
    headerForward: optional(HeaderForward),
    caBundleRef: optional(caBundleRef('requests to the remote server')),
    allowPrivateEndpoint: bool(
      'True: remoteUrl may name a private address, or a host that ends in cluster.local. Addresses of the node, of metadata services and of the API server stay refused.',
      false,
    ),
  },
  'A remote MCP server that virtual servers call themselves: it has no pods.',
);

export const MCPServerEntryStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the entry that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: choice('Valid if virtual servers can use the entry.', ['Valid', 'Pending', 'Failed'], {
      default: 'Pending',
    }),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the entry.',
);

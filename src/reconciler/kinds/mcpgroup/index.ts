// Defines the kind MCPGroup: a name that servers and proxies share, so that other resources can refer to all of them.
// It has no children.

import { defineKind } from '../define.ts';
import { MCPGroupSpec, MCPGroupStatus } from './schema.ts';
import { status } from './status.ts';

export const MCPGroup = defineKind({
  kind: 'MCPGroup',
  plural: 'mcpgroups',
  singular: 'mcpgroup',
  shortNames: ['mcpg', 'mcpgroup'],
  categories: ['toolhive'],
  description: 'A group of MCP servers and remote proxies of one namespace.',
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Servers', type: 'integer', jsonPath: '.status.serverCount' },
    { name: 'Remote Proxies', type: 'integer', jsonPath: '.status.remoteProxyCount' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="MCPServersChecked")].status' },
  ],
  after: [],
  schema: { spec: MCPGroupSpec, status: MCPGroupStatus },
  status,
});

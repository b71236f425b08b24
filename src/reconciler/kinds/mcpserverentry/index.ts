// Defines the kind MCPServerEntry: a remote MCP server as a member of a group. It has no children, because virtual
// servers call the remote server without a proxy.

import { defineKind } from '../define.ts';
import { settingsKinds } from '../shared-settings.ts';
import { references } from './references.ts';
import { ENTRY_ANNOTATIONS, inspect, rules } from './rules.ts';
import { MCPServerEntrySpec, MCPServerEntryStatus } from './schema.ts';
import { status } from './status.ts';

export const MCPServerEntry = defineKind({
  kind: 'MCPServerEntry',
  plural: 'mcpserverentries',
  singular: 'mcpserverentry',
  shortNames: ['mcpentry'],
  categories: ['toolhive'],
  description: 'A remote MCP server that virtual servers of its group call. It has no pods.',
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Transport', type: 'string', jsonPath: '.spec.transport' },
    { name: 'Remote URL', type: 'string', jsonPath: '.spec.remoteUrl' },
    { name: 'Group', type: 'string', jsonPath: '.spec.groupRef.name' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  annotations: ENTRY_ANNOTATIONS,
  after: ['MCPGroup', ...settingsKinds(['externalAuthConfigRef'])],
  schema: { spec: MCPServerEntrySpec, status: MCPServerEntryStatus },
  rules,
  inspect,
  references,
  status,
});

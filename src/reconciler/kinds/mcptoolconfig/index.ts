// Defines the kind MCPToolConfig: the tools that clients see, and their names, for the servers and proxies that name
// the object. It has no children.

import { configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import { rules } from './rules.ts';
import { MCPToolConfigSpec, MCPToolConfigStatus } from './schema.ts';

export const MCPToolConfig = defineKind({
  kind: 'MCPToolConfig',
  plural: 'mcptoolconfigs',
  singular: 'mcptoolconfig',
  shortNames: ['tc', 'toolconfig'],
  categories: ['toolhive'],
  description: 'Tools of an MCP server that clients see, and their names.',
  printerColumns: [
    { name: 'Filter Count', type: 'integer', jsonPath: '.status.filterCount' },
    { name: 'Override Count', type: 'integer', jsonPath: '.status.overrideCount' },
    { name: 'Referenced By', type: 'string', jsonPath: '.status.referencingServers' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  after: [],
  schema: { spec: MCPToolConfigSpec, status: MCPToolConfigStatus },
  rules,
  status: (self, observed) => ({
    ...configStatus(self, 'toolConfigRef', observed),
    filterCount: self.spec.toolsFilter?.length ?? 0,
    overrideCount: Object.keys(self.spec.toolsOverride ?? {}).length,
  }),
});

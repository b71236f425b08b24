// Defines the kind VirtualMCPCompositeToolDefinition: a workflow that several virtual MCP servers offer as a tool. It
// has no children.

import { workflowFindings } from '#contracts/virtual-model/workflow/check.ts';
import { defineKind } from '../define.ts';
import { VirtualMCPCompositeToolDefinitionSpec, VirtualMCPCompositeToolDefinitionStatus } from './schema.ts';
import { status } from './status.ts';

export const VirtualMCPCompositeToolDefinition = defineKind({
  kind: 'VirtualMCPCompositeToolDefinition',
  plural: 'virtualmcpcompositetooldefinitions',
  singular: 'virtualmcpcompositetooldefinition',
  shortNames: ['vmcpctd', 'compositetool'],
  categories: ['toolhive'],
  description: 'A workflow over tools of virtual MCP servers. Each virtual server that names it offers it as one tool.',
  printerColumns: [
    { name: 'Workflow', type: 'string', jsonPath: '.spec.name' },
    { name: 'Steps', type: 'string', jsonPath: '.spec.steps[*].id' },
    { name: 'Status', type: 'string', jsonPath: '.status.validationStatus' },
    { name: 'Refs', type: 'string', jsonPath: '.status.referencingVirtualServers' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  after: [],
  schema: { spec: VirtualMCPCompositeToolDefinitionSpec, status: VirtualMCPCompositeToolDefinitionStatus },
  rules: ({ spec }) => workflowFindings(spec, '/spec'),
  status,
});

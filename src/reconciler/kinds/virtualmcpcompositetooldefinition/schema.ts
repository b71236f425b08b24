// Defines every field of VirtualMCPCompositeToolDefinition.

import { choice, integer, list, object, optional, text } from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';

export { CompositeTool as VirtualMCPCompositeToolDefinitionSpec } from '#contracts/virtual/composite-tool.ts';

export const VirtualMCPCompositeToolDefinitionStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the definition that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    validationStatus: optional(
      choice('Whether the workflow can run. Unknown until it has been checked.', ['Valid', 'Invalid', 'Unknown']),
    ),
    validationErrors: optional(list(text('A fault, with the field.'), 'Everything that makes the workflow invalid.')),
    referencingVirtualServers: optional(
      list(text('Name of a VirtualMCPServer.'), 'Names of the VirtualMCPServers that offer the workflow, sorted.'),
    ),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the definition.',
);

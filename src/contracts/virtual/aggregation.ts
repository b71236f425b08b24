// Defines which tools of a group's members clients see, and under which names, in a spec and in the server's
// configuration.

import type { TProperties } from '#std/json-schema.ts';
import { bool, choice, list, object, optional, text } from '#std/schema.ts';
import { toolName } from '../tool-override.ts';

/** Returns a field with the name of a member. */
export function workloadField(description: string) {
  return text(description, { minLength: 1, maxLength: 253 });
}

const ConflictResolutionConfig = object(
  {
    prefixFormat: text('For prefix: the text before the name of each tool; {workload} is the name of its workload.', {
      default: '{workload}_',
      minLength: 1,
      maxLength: 256,
    }),
    priorityOrder: optional(
      list(
        workloadField('Name of a workload.'),
        'For priority: the order of the workloads. The tool of the first one wins.',
        {
          maxItems: 1000,
        },
      ),
    ),
  },
  'Settings for resolving equal names.',
  { default: {} },
);

/**
 * Fields of one member. References to an MCPToolConfig exist only in specs, so specs and files add their own fields.
 */
export const WORKLOAD_TOOLS = {
  workload: workloadField('Name of a member of the group.'),
  filter: optional(
    list(
      toolName('Name of a tool, as clients see it before equal names are resolved.'),
      'The tools that clients see. If empty, all. Workflows may call the others too.',
      { maxItems: 1000 },
    ),
  ),
  excludeAll: bool('True: clients see none of its tools. Workflows may call them.', false),
};

/** Defines AggregationConfig of ToolHive's documents. `tools`: fields of one member. */
export function aggregation<T extends TProperties>(tools: T) {
  return object(
    {
      conflictResolution: choice(
        'How equal names are resolved: prefix puts the workload before every name. priority keeps the tool of the first workload in an order. manual requires overrides after which no names are equal.',
        ['prefix', 'priority', 'manual'],
        { default: 'prefix' },
      ),
      conflictResolutionConfig: ConflictResolutionConfig,
      tools: optional(
        list(
          object(tools, 'Tools of one member of the group that clients see.'),
          'Tools of single members that clients see. Clients see all tools of other members.',
          {
            keys: ['workload'],
            maxItems: 200,
          },
        ),
      ),
      excludeAllTools: bool('True: clients see no tool of any member, only workflows.', false),
      defaultToolVisibility: optional(
        choice(
          'Whether clients see the tools of members that are not listed in tools. Workflows may call them either way. Default: allow.',
          ['allow', 'deny'],
        ),
      ),
    },
    'How the tools of the members are combined.',
    {
      // API servers check rules before they fill in defaults inside this default, so the default must already fulfil
      // the rules.
      default: { conflictResolution: 'prefix' },
      validations: [
        {
          rule: "self.conflictResolution != 'priority' || (has(self.conflictResolutionConfig.priorityOrder) && self.conflictResolutionConfig.priorityOrder.size() > 0)",
          message: "conflictResolutionConfig.priorityOrder must be set when conflictResolution is 'priority'",
        },
      ],
    },
  );
}

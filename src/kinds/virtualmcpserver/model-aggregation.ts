// Fields that say which tools of a group's members clients see, and under which names. Knows nothing about the tools
// there are.

import { bool, choice, list, object, optional, text } from '../../std/schema.ts';
import { toolName, toolOverrides } from '../proxy/tool-override.ts';
import { namedRef } from '../selectors.ts';

/** A name that tells workloads of a group apart. */
export function workloadField(description: string) {
  return text(description, { minLength: 1, maxLength: 253 });
}

const ConflictResolutionConfig = object(
  {
    prefixFormat: text(
      'For prefix: what is put before the name of each tool; {workload} is the name of its workload.',
      {
        default: '{workload}_',
        minLength: 1,
        maxLength: 256,
      },
    ),
    priorityOrder: optional(
      list(workloadField('Name of a workload.'), 'For priority: whose tool wins, the first before the others.', {
        maxItems: 1000,
      }),
    ),
  },
  'Settings of the way in which equal names are told apart.',
  { default: {} },
);

const WorkloadTools = object(
  {
    workload: workloadField('Name of a member of the group.'),
    toolConfigRef: optional(
      namedRef(
        'Which of its tools clients see and what they are called. Wins over filter and overrides.',
        'MCPToolConfig',
      ),
    ),
    filter: optional(
      list(
        toolName('Name of a tool, as clients see it before names are told apart.'),
        'The tools that clients see; all when empty. Workflows may call the others too.',
        { maxItems: 1000 },
      ),
    ),
    overrides: optional(
      toolOverrides("How tools are shown, by the tools' own names. Applied before names are told apart."),
    ),
    excludeAll: bool('True: clients see none of its tools. Workflows may call them.', false),
  },
  'What clients see of one member of the group.',
);

/** AggregationConfig. */
export const Aggregation = object(
  {
    conflictResolution: choice(
      'What becomes of names: prefix names every tool after its workload. priority keeps the tool of the first in an order. manual expects overrides that leave none equal.',
      ['prefix', 'priority', 'manual'],
      { default: 'prefix' },
    ),
    conflictResolutionConfig: ConflictResolutionConfig,
    tools: optional(
      list(WorkloadTools, 'What clients see of single members. All of the others.', {
        keys: ['workload'],
        maxItems: 200,
      }),
    ),
    excludeAllTools: bool('True: clients see no tool of any member, only workflows.', false),
  },
  'How the tools of the members become those of one server.',
  {
    // Rules are held against a default before its own defaults are filled in.
    default: { conflictResolution: 'prefix' },
    validations: [
      {
        rule: "self.conflictResolution != 'priority' || (has(self.conflictResolutionConfig.priorityOrder) && self.conflictResolutionConfig.priorityOrder.size() > 0)",
        message: "conflictResolutionConfig.priorityOrder must be set when conflictResolution is 'priority'",
      },
    ],
  },
);

/** CompositeToolRef. */
export const CompositeToolRef = namedRef(
  'A workflow that is a resource of its own.',
  'VirtualMCPCompositeToolDefinition',
);

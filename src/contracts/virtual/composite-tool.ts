// Defines a workflow that clients call as one tool, for VirtualMCPCompositeToolDefinition and VirtualMCPServer.

import { anyObject, anyValue, choice, duration, integer, list, map, object, optional, text } from '#std/schema.ts';
import { WorkflowAnnotations } from '../tool-override.ts';

/** Limits of `workload.tool`. Names of workloads contain no dot, so the first dot ends the workload's name. */
const TOOL = {
  minLength: 1,
  maxLength: 384,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
} as const;

const StepErrorHandling = object(
  {
    action: choice(
      'abort: the workflow fails. continue: the output of the step is its defaultResults. retry: it is tried again, then abort.',
      ['abort', 'continue', 'retry'],
      { default: 'abort' },
    ),
    retryCount: optional(
      integer('For retry: how often the step is tried again. More than 10 counts as 10.', { minimum: 0 }),
    ),
    retryDelay: optional(duration('For retry: time until the first retry. It grows with each retry. Default: 1s.')),
  },
  'Action if the step fails. Default: abort.',
  {
    validations: [
      {
        rule: "self.action != 'retry' || (has(self.retryCount) && self.retryCount >= 1)",
        message: "retryCount must be at least 1 when action is 'retry'",
        fieldPath: '.retryCount',
      },
    ],
  },
);

function answerHandling(description: string) {
  return object(
    {
      action: choice(
        'skip_remaining: no further step is run. abort: the workflow fails. continue: it goes on.',
        ['skip_remaining', 'abort', 'continue'],
        { default: 'abort' },
      ),
    },
    description,
  );
}

/** Fields of a tool call, as a step or inside a loop. */
const call = {
  arguments: optional(
    anyObject('Arguments of the tool. Texts at the first level are Go templates over .params and .steps.'),
  ),
  condition: optional(text('Go template that results in true or false. If false, the step is skipped.')),
  timeout: optional(duration('The longest that the step may take. Default: 5m.')),
  onError: optional(StepErrorHandling),
  defaultResults: optional(
    anyObject('Output of the step if it is skipped, or fails with onError continue. Needs every field that is read.'),
  ),
};

/** WorkflowStepConfig inside a step of type forEach: a tool call, without fields that a loop ignores. */
const InnerStep = object(
  {
    id: optional(text('Name of the step, for people.', { minLength: 1, maxLength: 128 })),
    type: choice('Only tools can be called for each item.', ['tool'], { default: 'tool' }),
    tool: text('The tool to call, as workload.tool.', TOOL),
    ...call,
  },
  'For forEach: the call for each item. Its templates also see .forEach.index and the item, .forEach.item.',
);

/** Named WorkflowStepConfig in ToolHive's documents. */
const Step = object(
  {
    id: text('Name of the step, unique in the workflow; templates read .steps.<id>.output.', {
      minLength: 1,
      maxLength: 128,
    }),
    type: choice(
      'tool: calls a tool. elicitation: asks the user. forEach: calls a tool for each item of a list.',
      ['tool', 'elicitation', 'forEach'],
      { default: 'tool' },
    ),
    tool: optional(text('For tool: the tool to call, as workload.tool.', TOOL)),
    ...call,
    dependsOn: optional(
      list(text('id of a step.', { minLength: 1, maxLength: 128 }), 'Steps that must be done before this one starts.', {
        maxItems: 100,
      }),
    ),
    message: optional(text('For elicitation: the question to the user. A Go template.', { minLength: 1 })),
    schema: optional(
      anyObject(
        'For elicitation: JSON Schema of the answer. Templates read a field of it as .steps.<id>.output.content.<field>, and the decision of the user as .steps.<id>.output.action.',
      ),
    ),
    onDecline: optional(answerHandling('For elicitation: action if the user declines. Default: abort.')),
    onCancel: optional(answerHandling('For elicitation: action if the user does not answer. Default: abort.')),
    collection: optional(
      text('For forEach: Go template that results in a JSON list, such as {{json .steps.list.output.items}}.', {
        minLength: 1,
      }),
    ),
    itemVar: optional(
      text('For forEach: name of the item in templates, after .forEach. Default: item.', {
        pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$',
        maxLength: 64,
        validations: [
          { rule: "self != 'index'", message: 'itemVar must not be index: that is the number of the item' },
        ],
      }),
    ),
    maxParallel: optional(integer('For forEach: how many items at a time. Default: 10.', { minimum: 1, maximum: 50 })),
    maxIterations: optional(
      integer('For forEach: maximum number of items. With more, the step fails. Default: 100.', {
        minimum: 1,
        maximum: 1000,
      }),
    ),
    step: optional(InnerStep),
  },
  'A step of a workflow.',
  {
    validations: [
      {
        rule: "(self.type == 'tool') == has(self.tool)",
        message: "tool must be set when type is 'tool', and must not be set otherwise",
      },
      {
        rule: "self.type == 'tool' || !has(self.arguments)",
        message: "arguments must not be set when type is not 'tool'",
        fieldPath: '.arguments',
      },
      {
        rule: "(self.type == 'elicitation') == has(self.message)",
        message: "message must be set when type is 'elicitation', and must not be set otherwise",
      },
      {
        rule: "self.type == 'elicitation' || !(has(self.schema) || has(self.onDecline) || has(self.onCancel))",
        message: "schema, onDecline and onCancel must not be set when type is not 'elicitation'",
      },
      {
        rule: "(self.type == 'forEach') == has(self.collection)",
        message: "collection must be set when type is 'forEach', and must not be set otherwise",
      },
      {
        rule: "(self.type == 'forEach') == has(self.step)",
        message: "step must be set when type is 'forEach', and must not be set otherwise",
      },
      {
        rule: "self.type == 'forEach' || !(has(self.itemVar) || has(self.maxParallel) || has(self.maxIterations))",
        message: "itemVar, maxParallel and maxIterations must not be set when type is not 'forEach'",
      },
    ],
  },
);

/**
 * Named OutputProperty in ToolHive's documents. Rules in code check nested properties, because a structural schema
 * cannot be recursive.
 */
const OutputProperty = object(
  {
    type: choice('JSON type of the value.', ['string', 'integer', 'number', 'boolean', 'object', 'array']),
    description: optional(text('Description of the value, for clients.')),
    value: optional(
      text(
        'Go template of the value, such as {{.steps.fetch.output.title}}. For object and array: it results in JSON.',
        {
          minLength: 1,
        },
      ),
    ),
    properties: optional(
      map(
        anyObject('A property of the object, with the same fields as this one.'),
        'For object: its properties, each with a value of its own.',
        { minProperties: 1, maxProperties: 100 },
      ),
    ),
    default: optional(anyValue('The value if the template results in none. Converted to type.')),
  },
  'A property of the result.',
  {
    validations: [
      {
        rule: "self.type == 'object' || (has(self.value) && !has(self.properties))",
        message: "value must be set, and properties must not be set, when type is not 'object'",
      },
      {
        rule: "self.type != 'object' || has(self.value) != has(self.properties)",
        message: "exactly one of value and properties must be set when type is 'object'",
      },
    ],
  },
);

/** Named OutputConfig in ToolHive's documents. */
const Output = object(
  {
    properties: map(OutputProperty, 'The properties of the result.', { minProperties: 1, maxProperties: 100 }),
    required: optional(
      list(
        text('Name of a property.', { minLength: 1, maxLength: 256 }),
        'Properties without which the workflow fails.',
        {
          maxItems: 100,
        },
      ),
    ),
  },
  'Result of the tool. Absent: the output of the last step.',
  {
    validations: [
      {
        rule: '!has(self.required) || self.required.all(name, name in self.properties)',
        message: 'required must only name properties',
        fieldPath: '.required',
      },
    ],
  },
);

/**
 * Named CompositeToolConfig in ToolHive's documents: the spec of a VirtualMCPCompositeToolDefinition, and an item of a
 * VirtualMCPServer's list.
 */
export const CompositeTool = object(
  {
    name: text('Name of the tool that clients call.', {
      minLength: 1,
      maxLength: 128,
      pattern: '^[a-zA-Z0-9_.-]+$',
    }),
    description: optional(text('Description of the tool, for clients. Without it the workflow is invalid.')),
    parameters: optional(anyObject('JSON Schema of the arguments: of type object, with properties.')),
    timeout: optional(duration('The longest that the workflow may take. Default: 30m.')),
    // The schema accepts repeated ids, because existing clients rely on this. Rules in code report them.
    steps: list(Step, 'Steps of the workflow. Steps that depend on no other start together.', {
      minItems: 1,
      maxItems: 100,
    }),
    output: optional(Output),
    annotations: optional(WorkflowAnnotations),
  },
  'A workflow over the tools of a virtual MCP server, offered as one tool.',
);

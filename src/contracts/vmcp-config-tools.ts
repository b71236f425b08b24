// The parts of a virtual MCP server's configuration that are about tools: how they are shown, and workflows over them.
// Knows nothing about clusters. Key names follow AggregationConfig and CompositeToolConfig of the configuration model.

import { DURATION_PATTERN } from '../std/duration.ts';
import type { Json, JsonObject } from '../std/json.ts';
import { type Static, type TUnsafe, Type } from '../std/json-schema.ts';
import { ToolOverride } from './tool-override.ts';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Texts = (description: string) => Type.Array(Text('One of them.'), { description });
const Duration = (description: string) => Type.String({ pattern: DURATION_PATTERN, description });
const Anything: TUnsafe<Json> = Type.Unsafe({});
const AnyObject: TUnsafe<JsonObject> = Type.Unsafe({ type: 'object' });

export const AGGREGATION = Type.Object(
  {
    conflictResolution: Type.Enum(['prefix', 'priority', 'manual'], { description: 'What becomes of equal names.' }),
    conflictResolutionConfig: Type.Object(
      {
        prefixFormat: Text('For prefix; {workload} is the name of the backend.'),
        priorityOrder: Type.Optional(Texts('For priority: names of backends, the first wins.')),
      },
      CLOSED,
    ),
    tools: Type.Optional(
      Type.Array(
        Type.Object(
          {
            workload: Text('Name of the backend.'),
            filter: Type.Optional(Texts('Tools that clients see, by the names that overrides give. Absent: all.')),
            overrides: Type.Optional(
              Type.Record(Type.String(), ToolOverride, { description: "By the tool's own name." }),
            ),
            excludeAll: Type.Boolean({ description: 'Clients see none of its tools.' }),
          },
          CLOSED,
        ),
        { description: 'Backends of which clients do not see everything as it is.' },
      ),
    ),
    excludeAllTools: Type.Boolean({ description: 'Clients see no tool of any backend.' }),
  },
  { ...CLOSED, description: 'What is hidden from clients can still be called by workflows.' },
);

const CALL = {
  arguments: Type.Optional(AnyObject),
  condition: Type.Optional(Type.String({ description: 'Go template: the step is skipped where it gives false.' })),
  timeout: Type.Optional(Duration('The longest that the step may take.')),
  onError: Type.Optional(
    Type.Object(
      {
        action: Type.Enum(['abort', 'continue', 'retry']),
        retryCount: Type.Optional(Type.Integer({ minimum: 0 })),
        retryDelay: Type.Optional(Duration('Time to the first try again.')),
      },
      CLOSED,
    ),
  ),
  defaultResults: Type.Optional(AnyObject),
};

const Answer = Type.Object({ action: Type.Enum(['skip_remaining', 'abort', 'continue']) }, CLOSED);

const Step = Type.Object(
  {
    id: Text('Unique in the workflow.'),
    type: Type.Enum(['tool', 'elicitation', 'forEach']),
    tool: Type.Optional(Text('backend.tool')),
    ...CALL,
    dependsOn: Type.Optional(Texts('Steps that must be done before.')),
    message: Type.Optional(Text('What the user is asked.')),
    schema: Type.Optional(AnyObject),
    onDecline: Type.Optional(Answer),
    onCancel: Type.Optional(Answer),
    collection: Type.Optional(Text('Go template that gives a list.')),
    itemVar: Type.Optional(Text('Name of the item.')),
    maxParallel: Type.Optional(Type.Integer({ minimum: 1 })),
    maxIterations: Type.Optional(Type.Integer({ minimum: 1 })),
    step: Type.Optional(
      Type.Object(
        { id: Type.Optional(Text('For people.')), type: Type.Literal('tool'), tool: Text('backend.tool'), ...CALL },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

const OutputProperty = Type.Object(
  {
    type: Type.Enum(['string', 'integer', 'number', 'boolean', 'object', 'array']),
    description: Type.Optional(Type.String()),
    value: Type.Optional(Text('Go template.')),
    properties: Type.Optional(Type.Record(Type.String(), AnyObject, { description: 'With the same keys as this.' })),
    default: Type.Optional(Anything),
  },
  CLOSED,
);

export const COMPOSITE_TOOL = Type.Object(
  {
    name: Text('Name of the tool.'),
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(AnyObject),
    timeout: Type.Optional(Duration('The longest that the workflow may take.')),
    steps: Type.Array(Step, { minItems: 1 }),
    output: Type.Optional(
      Type.Object(
        {
          properties: Type.Record(Type.String(), OutputProperty),
          required: Type.Optional(Texts('Properties without which the workflow fails.')),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

export type Aggregation = Static<typeof AGGREGATION>;
export type CompositeToolConfig = Static<typeof COMPOSITE_TOOL>;

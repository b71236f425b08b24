// How one tool is shown to clients, in the configuration of a proxy and of a virtual server alike. Knows nothing about
// either.

import { Type } from '../std/json-schema.ts';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });

export const ToolOverride = Type.Object(
  {
    name: Type.Optional(Text('Name that clients see.')),
    description: Type.Optional(Text('Description that clients see.')),
    annotations: Type.Optional(
      Type.Object(
        {
          title: Type.Optional(Type.String()),
          readOnlyHint: Type.Optional(Type.Boolean()),
          destructiveHint: Type.Optional(Type.Boolean()),
          idempotentHint: Type.Optional(Type.Boolean()),
          openWorldHint: Type.Optional(Type.Boolean()),
        },
        { ...CLOSED, description: 'MCP tool annotations that clients see; what is unset passes through.' },
      ),
    ),
  },
  CLOSED,
);

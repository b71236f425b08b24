// One server behind a virtual MCP server, as a spec writes it down and as the server's configuration has it.

import { addressed } from '#std/address/address.ts';
import { choice, object, optional, text, textMap } from '#std/schema.ts';
import { workloadField } from './aggregation.ts';

export const StaticBackend = object(
  {
    name: workloadField('Name of the member of the group that this is.'),
    url: addressed(
      text('URL of its MCP endpoint.', { minLength: 1, maxLength: 2048, pattern: '^https?://.+$' }),
      'url',
    ),
    transport: choice('What it speaks.', ['sse', 'streamable-http']),
    metadata: optional(textMap('What else is known about it.')),
  },
  'A backend that is written down instead of found.',
);

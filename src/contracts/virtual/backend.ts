// Defines a backend of a virtual MCP server, in a spec and in the server's configuration.

import { addressed } from '#std/address/address.ts';
import { choice, object, optional, text, textMap } from '#std/schema.ts';
import { BACKEND_TOOLS_LOCK } from '../tool-lock/held.ts';
import { workloadField } from './aggregation.ts';

const BACKEND = {
  name: workloadField('Name of this member of the group.'),
  url: addressed(text('URL of its MCP endpoint.', { minLength: 1, maxLength: 2048, pattern: '^https?://.+$' }), 'url'),
  transport: choice('Its transport.', ['sse', 'streamable-http']),
  metadata: optional(textMap('Further facts about it.')),
};

export const StaticBackend = object(BACKEND, 'A backend that is declared instead of discovered.');

/** Backend in the server's configuration. */
export const ListedBackend = object(
  {
    ...BACKEND,
    headerForward: optional(
      object(
        {
          addPlaintextHeaders: optional(textMap('Values by name.')),
          addHeadersFromSecret: optional(
            textMap('Identifiers by name: a variable TOOLHIVE_SECRET_<identifier> has the value.'),
          ),
        },
        'Headers of every request to it. They win over the headers of authentication.',
      ),
    ),
    caBundlePath: optional(
      text('PEM file with certificates to trust for it, in addition to the roots of the image.', { minLength: 1 }),
    ),
    toolsLock: optional(BACKEND_TOOLS_LOCK),
    sleeps: optional(
      text(
        'Set for a server that its proxy stops while no client uses it: a digest of its declaration. Its health is checked without starting it, and its lists are read again only after the digest has changed or the server reports a change.',
        { minLength: 1 },
      ),
    ),
  },
  'A backend of the server.',
);

// Defines the field that names the authorization server of a proxy, separately from the authentication to the server
// behind the proxy.

import { choice, object } from '#std/schema.ts';
import { nameField } from '../../selectors.ts';

export const AuthServerRef = object(
  {
    kind: choice('Kind of the object.', ['MCPExternalAuthConfig'], { default: 'MCPExternalAuthConfig' }),
    name: nameField('Name of an MCPExternalAuthConfig of type embeddedAuthServer, in the same namespace.'),
  },
  'The authorization server in the proxy. externalAuthConfigRef then defines how the proxy authenticates to the server behind it, with the token of the upstream provider if it needs one.',
);

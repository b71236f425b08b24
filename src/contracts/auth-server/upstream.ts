// Defines an upstream provider, with which users log in, in the configuration of an embedded authorization server.

import { Type } from '#std/json-schema.ts';
import { CLOSED, Text, Texts, Url } from './fields.ts';

const UserInfo = Type.Object(
  {
    endpoint_url: Url('URL that returns the user.'),
    http_method: Type.Enum(['GET', 'POST'], { description: 'HTTP method of the request.' }),
    additional_headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Headers to send.' })),
    field_mapping: Type.Optional(
      Type.Object(
        {
          subject_fields: Type.Optional(Texts('Fields to look for the id in, in this order. Absent: sub.')),
          name_fields: Type.Optional(Texts('Fields to look for the name in, in this order. Absent: name.')),
          email_fields: Type.Optional(Texts('Fields to look for the address in, in this order. Absent: email.')),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

const CLIENT = {
  client_id: Text('Client id that the provider knows the server by.'),
  client_secret_file: Type.Optional(
    Text('File with the client secret; read again when it changes. Wins over the variable.'),
  ),
  client_secret_env_var: Type.Optional(Text('Variable with the client secret. Neither: a public client, with PKCE.')),
  redirect_uri: Url('URL that the provider sends users back to.'),
  scopes: Type.Optional(Texts('Scopes to request.')),
  additional_authorization_params: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Parameters to add to the URL that users are sent to. Parameters of the protocol cannot be set.',
    }),
  ),
};

export const OIDCUpstream = Type.Object(
  {
    issuer_url: Url('Issuer; its endpoints are found by discovery.'),
    ...CLIENT,
    subject_claim: Type.Optional(Text('Claim of the id_token that is the id of the user. Absent: sub.')),
    userinfo_override: Type.Optional(UserInfo),
  },
  CLOSED,
);

const Registration = Type.Object(
  {
    discovery_url: Type.Optional(Url('URL of the metadata that names the registration endpoint.')),
    registration_endpoint: Type.Optional(Url('URL that registers clients. Either this or discovery_url is set.')),
    initial_access_token_file: Type.Optional(Text('File with the token to register with; wins over the variable.')),
    initial_access_token_env_var: Type.Optional(Text('Variable with the token. Neither: the endpoint is open.')),
    software_id: Type.Optional(Text('The software_id of the registration.')),
    software_statement: Type.Optional(Text('The software_statement of the registration, a signed JWT.')),
  },
  { ...CLOSED, description: 'How the server registers itself as a client (RFC 7591), in place of client_id.' },
);

export const OAuth2Upstream = Type.Object(
  {
    authorization_endpoint: Url('URL that users are sent to.'),
    token_endpoint: Url('URL at which codes are exchanged for tokens.'),
    ...CLIENT,
    client_id: Type.Optional(Text('Client id that the provider knows the server by. Absent: dcr_config is there.')),
    dcr_config: Type.Optional(Registration),
    insecure_allow_http: Type.Optional(
      Type.Boolean({ description: 'False: endpoints of the provider must be https (http on loopback).' }),
    ),
    allow_private_ips: Type.Optional(
      Type.Boolean({
        description:
          'False: requests to private addresses are refused. True: the registration endpoint that the metadata names may be private, too. Absent: only hosts that are named here may be private.',
      }),
    ),
    userinfo: Type.Optional(UserInfo),
    identity_from_token: Type.Optional(
      Type.Object(
        {
          subject_path: Text('Path of the id of the user.'),
          name_path: Type.Optional(Text('Path of the name.')),
          email_path: Type.Optional(Text('Path of the address.')),
        },
        {
          ...CLOSED,
          description:
            'Paths of the user in the token response. Wins over userinfo, and one of the two is set. Dots separate the keys of a path, |@upstreamjwt reads the claims of a JWT.',
        },
      ),
    ),
    token_response_mapping: Type.Optional(
      Type.Object(
        {
          access_token_path: Text('Path of the access token.'),
          scope_path: Text('Path of the scopes.'),
          refresh_token_path: Text('Path of the refresh token.'),
          expires_in_path: Text('Path of the lifetime, in seconds.'),
        },
        {
          ...CLOSED,
          description: 'Paths in a token response that differs from RFC 6749. Dots separate the keys of a path.',
        },
      ),
    ),
  },
  CLOSED,
);

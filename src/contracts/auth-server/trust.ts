// Defines trusted issuers, whose tokens an embedded authorization server exchanges, and the clients that may exchange
// tokens.

import { Type } from '#std/json-schema.ts';
import { CLOSED, Duration, Text, Texts, Url } from './fields.ts';

const JwtBearerGrant = Type.Object(
  {
    accepted_audiences: Type.Optional(
      Type.Array(Url('One of them.'), { description: 'Audiences of assertions. If it is absent, the token endpoint.' }),
    ),
    max_assertion_age: Duration('The longest time between iat and exp of an assertion.'),
    subject_bindings: Type.Array(
      Type.Object(
        {
          subject: Text('The sub of assertions.'),
          allowed_resources: Type.Array(Url('One of them.'), {
            minItems: 1,
            description: 'Resources that the subject gets tokens for.',
          }),
        },
        CLOSED,
      ),
      { minItems: 1, description: 'Subjects that get tokens; others get none.' },
    ),
  },
  { ...CLOSED, description: 'Assertions of the issuer are grants (RFC 7523). If it is absent, they are not.' },
);

export const TrustedIssuers = Type.Array(
  Type.Object(
    {
      issuer_url: Url('Its iss claim.'),
      jwks_url: Type.Optional(Url('URL of its keys. If it is absent, discovery finds it.')),
      insecure_allow_http: Type.Optional(Type.Boolean({ description: 'True: its URLs may be http.' })),
      allow_private_ips: Type.Optional(
        Type.Boolean({ description: 'True: jwks_url may be at a private address. Needs jwks_url.' }),
      ),
      expected_audience: Type.Optional(
        Text('The aud of tokens that are exchanged (RFC 8693). If it is absent, no token of the issuer is exchanged.'),
      ),
      actor_claim: Type.Optional(Text('Claim that names the client which got the token. If it is absent, azp.')),
      allowed_actors: Type.Optional(Texts('Values of that claim whose tokens are exchanged.')),
      actor_matcher: Type.Optional(
        Text('CEL expression over the claims; tokens for which it is true are exchanged as well.'),
      ),
      allow_may_act: Type.Optional(
        Type.Boolean({ description: 'True: the may_act claim of a token decides instead, if the token has it.' }),
      ),
      allowed_delegate_clients: Type.Optional(
        Texts('Clients that may exchange tokens of the issuer; "*" stands for every delegate client.'),
      ),
      jwt_bearer_grant: Type.Optional(JwtBearerGrant),
    },
    CLOSED,
  ),
  { description: 'Issuers whose tokens count here. None if it is absent.' },
);

export const DelegateClients = Type.Array(
  Type.Object(
    {
      client_id: Text('Its id.'),
      client_secret_file: Type.Optional(
        Text('File with its secret, read again when it changes. Wins over the variable.'),
      ),
      client_secret_env_var: Type.Optional(Text('Variable with its secret. One of the two is there.')),
      scopes: Texts('Scopes that it may ask for.'),
      audiences: Texts('Resources that it may ask for.'),
    },
    CLOSED,
  ),
  { description: 'Clients that may exchange tokens for tokens of this server (RFC 8693). None if it is absent.' },
);

// Defines the fields of an embedded authorization server for trusted issuers, and for clients that exchange tokens.

import { addressed } from '#std/address/address.ts';
import { bool, duration, list, object, optional, text } from '#std/schema.ts';
import { secretKeyRef } from '../../selectors.ts';

const URL_PATTERN = '^https?://[^\\s/?#]+([/?#]\\S*)?$';

/** Defines a list of URLs. Audiences of assertions (RFC 7523) and resources (RFC 8693) are URLs. */
function urls(item: string, description: string) {
  const url = addressed(text(item, { minLength: 1, maxLength: 2048, pattern: URL_PATTERN }), 'url');
  return list(url, description, { minItems: 1, maxItems: 50 });
}

function names(item: string, description: string, maxItems = 50) {
  return list(text(item, { minLength: 1, maxLength: 256 }), description, { minItems: 1, maxItems });
}

const SubjectBinding = object(
  {
    subject: text('The sub of assertions; there is no wildcard.', {
      minLength: 1,
      maxLength: 256,
      pattern: '^[^*]+$',
    }),
    allowedResources: urls('A resource.', 'Resources that the subject gets tokens for.'),
  },
  'A subject that gets tokens, and what for.',
);

const JwtBearerGrant = object(
  {
    acceptedAudiences: optional(
      urls('An audience.', 'Audiences of assertions, one of which must be there. Default: {issuer}/oauth/token.'),
    ),
    maxAssertionAge: duration('The longest time between iat and exp of an assertion.'),
    subjectBindings: list(SubjectBinding, 'Subjects that get tokens; other subjects get no tokens.', {
      minItems: 1,
      maxItems: 50,
    }),
  },
  'Signed assertions of the issuer are grants (RFC 7523): a workload gets a token without a login. Each assertion counts once.',
  {
    validations: [
      {
        rule: "duration(self.maxAssertionAge) > duration('0s')",
        message: 'maxAssertionAge must be greater than zero',
      },
      {
        rule: 'self.subjectBindings.all(binding, self.subjectBindings.filter(other, other.subject == binding.subject).size() == 1)',
        message: 'subjectBindings must not contain duplicate subjects',
      },
    ],
  },
);

const keyUrl = (description: string) =>
  addressed(text(description, { minLength: 1, maxLength: 2048, pattern: URL_PATTERN }), 'url');

const TrustedIssuer = object(
  {
    issuerUrl: keyUrl('The iss claim of its tokens, exactly.'),
    jwksUrl: optional(keyUrl('URL of its keys. Default: {issuerUrl}/.well-known/openid-configuration names it.')),
    insecureAllowHTTP: optional(bool('True: its URLs may be http. For trying.')),
    allowPrivateIPs: optional(bool('True: jwksUrl may be at a private address. Needs jwksUrl.')),
    expectedAudience: optional(
      text(
        'The aud of tokens that delegate clients exchange (RFC 8693): one of the audiences that the resource accepts.',
        {
          minLength: 1,
          maxLength: 2048,
        },
      ),
    ),
    actorClaim: optional(
      text('Claim that names the client which got the token, such as appid or cid. Default: azp.', { maxLength: 64 }),
    ),
    allowedActors: optional(names('A client of the issuer.', 'Values of actorClaim whose tokens are exchanged.')),
    actorMatcher: optional(
      text('CEL expression over the claims of a token, as the map claims: the token is exchanged if it is true, too.', {
        maxLength: 4096,
      }),
    ),
    allowMayAct: optional(
      bool(
        'True: the claim may_act (RFC 8693 section 4.4) decides alone, if a token has it. Default: such a token is refused.',
      ),
    ),
    allowedDelegateClients: optional(
      names(
        'Client id of one of delegateClients, or *.',
        'Clients that may exchange tokens of the issuer; ["*"] stands for all of delegateClients.',
      ),
    ),
    jwtBearerGrant: optional(JwtBearerGrant),
  },
  'An issuer whose tokens count: those that delegate clients exchange, and its assertions.',
  {
    validations: [
      {
        rule: "!has(self.allowedDelegateClients) || !('*' in self.allowedDelegateClients) || size(self.allowedDelegateClients) == 1",
        message: 'allowedDelegateClients must not combine the wildcard "*" with specific client IDs',
      },
      {
        rule: "!(has(self.allowMayAct) && self.allowMayAct && '*' in self.allowedDelegateClients)",
        message: 'allowMayAct must not be enabled when allowedDelegateClients contains the wildcard "*"',
      },
      {
        rule: "!has(self.actorClaim) || !(self.actorClaim in ['sub', 'iss', 'aud', 'exp', 'iat', 'nbf', 'jti', 'name', 'email', 'scope', 'scp', 'may_act'])",
        message: 'actorClaim must name a claim that says which client got the token, such as azp, appid or cid',
      },
      {
        rule: '!(has(self.allowPrivateIPs) && self.allowPrivateIPs) || (has(self.jwksUrl) && self.jwksUrl != "")',
        message: 'allowPrivateIPs requires jwksUrl to be set explicitly',
      },
      {
        rule: '(has(self.jwtBearerGrant) && !((has(self.actorClaim) && size(self.actorClaim) > 0) || (has(self.actorMatcher) && size(self.actorMatcher) > 0) || (has(self.allowMayAct) && self.allowMayAct) || (has(self.allowedActors) && size(self.allowedActors) > 0))) || (has(self.expectedAudience) && size(self.expectedAudience) > 0)',
        message:
          'expectedAudience is required unless jwtBearerGrant is configured without actorClaim, actorMatcher, allowMayAct, or allowedActors',
      },
      {
        rule: '!((has(self.expectedAudience) && size(self.expectedAudience) > 0) || (has(self.actorClaim) && size(self.actorClaim) > 0) || (has(self.actorMatcher) && size(self.actorMatcher) > 0) || (has(self.allowMayAct) && self.allowMayAct)) || (has(self.allowedDelegateClients) && size(self.allowedDelegateClients) > 0)',
        message:
          'allowedDelegateClients is required when expectedAudience, actorClaim, actorMatcher, or allowMayAct is set',
      },
    ],
  },
);

const DelegateClient = object(
  {
    clientId: text('Client id at /oauth/token.', { minLength: 1, maxLength: 256 }),
    clientSecretRef: secretKeyRef('Secret of the client.'),
    scopes: names('A scope of the server.', 'Scopes that the client may request.', 10),
    audiences: list(
      text('A resource of the server.', { minLength: 1, maxLength: 2048 }),
      'Resources that the client may request tokens for.',
      { minItems: 1, maxItems: 10 },
    ),
  },
  'A client with a secret that acts for people: it exchanges their tokens for tokens of this server (RFC 8693).',
);

export const TrustedIssuers = list(
  TrustedIssuer,
  'Other issuers whose tokens count here. Default: tokens of this server alone are exchanged, and no assertion is a grant.',
  { maxItems: 20 },
);

export const DelegateClients = list(
  DelegateClient,
  'Clients that exchange tokens of people, issued by this server or by trustedIssuers, for tokens with which the clients act for them. Default: none.',
  { maxItems: 10 },
);

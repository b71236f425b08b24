// Defines who may call a virtual MCP server, and how the server authenticates to its backends. `spec.config` of a
// VirtualMCPServer and the server's configuration have these fields. Other fields of the spec take precedence over
// `spec.config`.

import { addressed } from '#std/address/address.ts';
import { bool, choice, list, map, object, optional, text } from '#std/schema.ts';
import { CloudSts } from './cloud-sts.ts';
import { PROVIDER, subjectProvider } from './subject-provider.ts';
import { TARGET_URL_RULE, XAA_FIELDS } from './xaa.ts';

export const ENV_NAME = { minLength: 1, maxLength: 253, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } as const;
const URL_FORM = { minLength: 1, maxLength: 2048, pattern: '^https?://.+$' } as const;

function scopes(description: string) {
  return list(text('A scope.', { minLength: 1 }), description);
}

/**
 * URLs that are secure enough: https, and http on loopback, because nothing leaves the machine (RFC 8252 section 8.3).
 */
const PROTECTED = '^(https://|http://(localhost|127[.]0[.]0[.]1|\\\\[::1\\\\])([:/?#]|$))';

/** Returns a CEL rule for an optional field with a URL that is used to verify tokens. */
export function protectedUrl(field: string) {
  return {
    rule: `self.insecureAllowHttp || !has(self.${field}) || self.${field}.matches('${PROTECTED}')`,
    message: `${field} must be an https URL unless insecureAllowHttp is true`,
    fieldPath: `.${field}`,
  };
}

export const ModelOIDC = object(
  {
    issuer: addressed(text('Issuer of the tokens, exactly as their iss claim has it.', URL_FORM), 'url'),
    clientId: optional(text('Client id, for introspection.')),
    clientSecretEnv: optional(text('Environment variable that holds the client secret.', ENV_NAME)),
    audience: text('Audience that tokens must have.', { minLength: 1 }),
    resource: optional(
      addressed(
        text('URL by which clients know the server (RFC 8707). Default: the audience, if it is a URL.'),
        'resource',
      ),
    ),
    scopes: optional(scopes('Scopes to advertise to clients.')),
    protectedResourceAllowPrivateIp: bool('True: the protected resource may be at a private address.', false),
    jwksAllowPrivateIp: bool('True: the keys may be at a private address.', false),
    insecureAllowHttp: bool('True: a plain HTTP issuer is accepted. For development only.', false),
  },
  'Whose tokens are accepted.',
  { validations: [protectedUrl('issuer')] },
);

/** Claims that contain the groups of a caller. In policies, groups are parents of the caller. */
export const GROUP_SETTINGS = {
  groupClaimName: optional(
    text(
      'Claim with the groups of a caller: its name, or the path to it with dots. Read before groups, roles and cognito:groups.',
      { minLength: 1, maxLength: 253 },
    ),
  ),
  roleClaimName: optional(
    text('Claim with the roles of a caller, which are groups as well.', { minLength: 1, maxLength: 253 }),
  ),
  groupEntityType: optional(
    text('Cedar type of the groups. Default: THVGroup.', { maxLength: 63, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  ),
};

export const ModelAuthz = object(
  {
    type: choice('cedar: Cedar policies decide. none: every accepted caller may do everything.', ['cedar', 'none']),
    policies: optional(list(text('A Cedar policy.', { minLength: 1 }), 'For cedar: the policies.', { maxItems: 1000 })),
    ...GROUP_SETTINGS,
  },
  'Permissions of callers.',
  {
    validations: [
      {
        rule: "(self.type == 'cedar') == (has(self.policies) && self.policies.size() > 0)",
        message: "policies must be set when type is 'cedar', and must not be set otherwise",
      },
    ],
  },
);

/** Named IncomingAuthConfig in ToolHive's documents. */
export const ModelIncomingAuth = object(
  {
    type: choice('How clients authenticate. local is refused, because it would authenticate no client.', [
      'oidc',
      'local',
      'anonymous',
    ]),
    oidc: optional(ModelOIDC),
    authz: optional(ModelAuthz),
  },
  'How clients authenticate. No effect in a cluster: incomingAuth of the resource is used instead.',
  {
    validations: [
      {
        rule: "(self.type == 'oidc') == has(self.oidc)",
        message: "oidc must be set when type is 'oidc', and must not be set otherwise",
      },
    ],
  },
);

export const HeaderInjection = object(
  {
    headerName: text('Name of the header.', {
      minLength: 1,
      maxLength: 255,
      // Token of RFC 9110, section 5.6.2.
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
    }),
    headerValue: optional(text('Value of the header, readable by anyone.', { minLength: 1, maxLength: 16384 })),
    headerValueEnv: optional(text('Environment variable that holds the value.', ENV_NAME)),
  },
  'For header_injection: a header sent with every request.',
  {
    validations: [
      {
        rule: 'has(self.headerValue) != has(self.headerValueEnv)',
        message: 'exactly one of headerValue and headerValueEnv must be set',
      },
    ],
  },
);

/** Token types of RFC 8693, section 3, in full and as the short names of MCPExternalAuthConfig. */
const SUBJECT_TOKEN_TYPE = {
  default: 'urn:ietf:params:oauth:token-type:access_token',
  pattern: '^(urn:ietf:params:oauth:token-type:)?(access_token|id_token|jwt)$',
} as const;

export const TokenExchange = object(
  {
    tokenUrl: addressed(text('URL at which tokens are exchanged.', URL_FORM), 'url'),
    clientId: optional(text('Client id for the exchange.')),
    clientSecret: optional(text('Client secret, readable by anyone.', { minLength: 1 })),
    clientSecretEnv: optional(text('Environment variable that holds the client secret.', ENV_NAME)),
    audience: optional(text('Audience of the new token.')),
    scopes: optional(scopes('Scopes of the new token.')),
    subjectProviderName: subjectProvider('token that is exchanged'),
    subjectTokenType: text('Type of the token that is exchanged.', SUBJECT_TOKEN_TYPE),
  },
  'For token_exchange: the token of the caller is exchanged for one of the backend (RFC 8693).',
  {
    validations: [
      {
        rule: '!(has(self.clientSecret) && has(self.clientSecretEnv))',
        message: 'at most one of clientSecret and clientSecretEnv may be set',
      },
    ],
  },
);

export const UpstreamInject = object(
  {
    providerName: text('Name of an upstream provider of the embedded authorization server.', PROVIDER),
  },
  'The token that the caller got from an upstream provider when logging in.',
);

export const Xaa = object(
  {
    ...XAA_FIELDS,
    idpClientSecret: optional(text('Client secret at the identity provider, readable by anyone.', { minLength: 1 })),
    idpClientSecretEnv: optional(text('Environment variable that holds it.', ENV_NAME)),
    targetClientSecret: optional(
      text('Client secret at the authorization server of the backend, readable by anyone.', { minLength: 1 }),
    ),
    targetClientSecretEnv: optional(text('Environment variable that holds it.', ENV_NAME)),
  },
  'For xaa: the id_token that the caller got from an upstream provider becomes a token of the backend (ID-JAG).',
  {
    validations: [
      TARGET_URL_RULE,
      {
        rule: '!(has(self.idpClientSecret) && has(self.idpClientSecretEnv)) && !(has(self.targetClientSecret) && has(self.targetClientSecretEnv))',
        message: 'at most one of a client secret and its variable may be set',
      },
    ],
  },
);

function strategy(description: string) {
  return object(
    {
      type: choice('How the server authenticates to the backend.', [
        'unauthenticated',
        'header_injection',
        'token_exchange',
        'upstream_inject',
        'aws_sts',
        'xaa',
      ]),
      headerInjection: optional(HeaderInjection),
      tokenExchange: optional(TokenExchange),
      upstreamInject: optional(UpstreamInject),
      awsSts: optional(CloudSts),
      xaa: optional(Xaa),
    },
    description,
    {
      validations: [
        iff('headerInjection', 'header_injection'),
        iff('tokenExchange', 'token_exchange'),
        iff('upstreamInject', 'upstream_inject'),
        iff('awsSts', 'aws_sts'),
        iff('xaa', 'xaa'),
      ],
    },
  );
}

/** Returns a CEL rule: the block must be set if and only if the type names it. */
export function iff(field: string, type: string) {
  return {
    rule: `(self.type == '${type}') == has(self.${field})`,
    message: `${field} must be set when type is '${type}', and must not be set otherwise`,
  };
}

/** Named OutgoingAuthConfig in ToolHive's documents. */
export const ModelOutgoingAuth = object(
  {
    source: choice('discovered: from each backend. inline: only from here.', ['inline', 'discovered'], {
      default: 'discovered',
    }),
    default: optional(strategy('For backends without an entry of their own.')),
    backends: optional(
      map(strategy('A backend with a strategy of its own.'), 'Strategies by name of the backend.', {
        maxProperties: 1000,
      }),
    ),
  },
  'How the server authenticates to backends. No effect if the resource has outgoingAuth.',
);

// Builds the validated settings of a provider, with defaults.

import { type AuthServerConfig, isReservedParameter } from '#contracts/auth-server/config.ts';
import { configInvalid, isProtected } from '../config-fault.ts';

type UpstreamBlock = AuthServerConfig['upstreams'][number];
type ClientBlock = NonNullable<UpstreamBlock['oidc_config']> | NonNullable<UpstreamBlock['oauth2_config']>;
export type UserInfoSettings = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['userinfo']>;
export type IdentityPaths = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['identity_from_token']>;
export type TokenMapping = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['token_response_mapping']>;

export interface UpstreamClient {
  readonly name: string;
  /** Id of the client. Empty if this server registers itself. */
  readonly clientId: string;
  /** Secret of the client, from the registration. */
  readonly clientSecret?: string;
  /** File with the secret. Overrides the variable. */
  readonly clientSecretFile?: string;
  readonly clientSecretVariable?: string;
  /** PEM file with additional authorities to trust for requests to the provider. */
  readonly caBundleFile?: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Additional parameters of the authorization URL. */
  readonly authorizationParameters: Readonly<Record<string, string>>;
}

/** URL and credentials for registering this server at the provider (RFC 7591). Exactly one of the two URLs is set. */
export interface RegistrationSettings {
  readonly discoveryUrl?: string;
  readonly registrationEndpoint?: string;
  /** File with the initial access token. Overrides the variable. */
  readonly initialAccessTokenFile?: string;
  readonly initialAccessTokenVariable?: string;
  readonly softwareId?: string;
  readonly softwareStatement?: string;
  /** If undefined, only hosts that the configuration names may have private addresses. */
  readonly allowPrivate?: boolean;
}

export type UpstreamSettings =
  | (UpstreamClient & {
      readonly type: 'oidc';
      readonly issuerUrl: string;
      readonly subjectClaim?: string;
      readonly userInfo?: UserInfoSettings;
    })
  | (UpstreamClient & {
      readonly type: 'oauth2';
      /** If undefined, only hosts that the configuration names may have private addresses. */
      readonly allowPrivate?: boolean;
      /** Settings of the registration. undefined if the configuration names the client. */
      readonly registration?: RegistrationSettings;
      readonly authorizationEndpoint: string;
      readonly tokenEndpoint: string;
      /** Source of the person's identity: paths in the token response, or a userinfo endpoint. */
      readonly identity: IdentityPaths | UserInfoSettings;
      readonly mapping?: TokenMapping;
    });

export function upstreamSettings(
  { name, type, ca_bundle_path: caBundleFile, oidc_config: oidc, oauth2_config: oauth2 }: UpstreamBlock,
  index: number,
): UpstreamSettings {
  const pointer = `/upstreams/${index}`;
  if (type === 'oidc' && oidc !== undefined) {
    return {
      type,
      ...upstreamClient(name, oidc, `${pointer}/oidc_config`),
      caBundleFile,
      issuerUrl: httpUrl(oidc.issuer_url, `${pointer}/oidc_config/issuer_url`),
      subjectClaim: oidc.subject_claim,
      userInfo: oidc.userinfo_override,
    };
  }
  if (type === 'oauth2' && oauth2 !== undefined) {
    return {
      type,
      allowPrivate: oauth2.allow_private_ips,
      ...upstreamClient(name, oauth2, `${pointer}/oauth2_config`),
      caBundleFile,
      authorizationEndpoint: endpointUrl(
        oauth2,
        oauth2.authorization_endpoint,
        `${pointer}/oauth2_config/authorization_endpoint`,
      ),
      tokenEndpoint: endpointUrl(oauth2, oauth2.token_endpoint, `${pointer}/oauth2_config/token_endpoint`),
      registration: registrationOf(oauth2, `${pointer}/oauth2_config`),
      identity: checkedIdentity(oauth2, `${pointer}/oauth2_config`),
      mapping: oauth2.token_response_mapping,
    };
  }
  throw configInvalid(pointer, `is of type ${type}, but the block of that type is missing`);
}

/** Validates a URL. http is only forbidden if `insecure_allow_http` is explicitly false. */
function endpointUrl({ insecure_allow_http: http }: OAuth2Block, text: string, pointer: string): string {
  const url = new URL(httpUrl(text, pointer));
  if (http !== false || isProtected(url)) return text;
  throw configInvalid(pointer, `must be https, because insecure_allow_http is false, not ${text}`);
}

type OAuth2Block = NonNullable<UpstreamBlock['oauth2_config']>;

function registrationOf(block: OAuth2Block, pointer: string): RegistrationSettings | undefined {
  const { client_id: id, dcr_config: dcr, allow_private_ips: allowPrivate } = block;
  if ((id === undefined) === (dcr === undefined)) {
    throw configInvalid(`${pointer}/client_id`, 'or dcr_config is required, but only one of them');
  }
  if (dcr === undefined) return undefined;
  const secret = (['client_secret_file', 'client_secret_env_var'] as const).find((key) => block[key] !== undefined);
  if (secret !== undefined)
    throw configInvalid(`${pointer}/${secret}`, 'and dcr_config exclude each other: the provider issues the secret');
  const { discovery_url: discoveryUrl, registration_endpoint: registrationEndpoint } = dcr;
  const [url, another] = [discoveryUrl, registrationEndpoint].filter((each) => each !== undefined);
  if (url === undefined || another !== undefined) {
    throw configInvalid(`${pointer}/dcr_config`, 'needs one of discovery_url and registration_endpoint');
  }
  // Tokens and secrets are sent to the URL.
  const parsed = URL.parse(url);
  if (parsed === null || !isProtected(parsed))
    throw configInvalid(`${pointer}/dcr_config`, `must name https, not ${url}`);
  return {
    discoveryUrl,
    registrationEndpoint,
    initialAccessTokenFile: dcr.initial_access_token_file,
    initialAccessTokenVariable: dcr.initial_access_token_env_var,
    softwareId: dcr.software_id,
    softwareStatement: dcr.software_statement,
    allowPrivate,
  };
}

function checkedIdentity(block: OAuth2Block, pointer: string): IdentityPaths | UserInfoSettings {
  const source = identitySource(block, pointer);
  if ('endpoint_url' in source) endpointUrl(block, source.endpoint_url, `${pointer}/userinfo/endpoint_url`);
  return source;
}

function identitySource(
  { identity_from_token: paths, userinfo }: NonNullable<UpstreamBlock['oauth2_config']>,
  pointer: string,
): IdentityPaths | UserInfoSettings {
  const found = paths ?? userinfo;
  if (found !== undefined) return found;
  throw configInvalid(`${pointer}/userinfo`, 'is missing, and so is identity_from_token: nothing identifies a person');
}

function upstreamClient(name: string, block: ClientBlock, pointer: string): UpstreamClient {
  const { additional_authorization_params: more = {} } = block;
  const reserved = Object.keys(more).find(isReservedParameter);
  if (reserved !== undefined) {
    throw configInvalid(
      `${pointer}/additional_authorization_params`,
      `sets ${reserved}, which belongs to the protocol`,
    );
  }
  return {
    name,
    clientId: block.client_id ?? '',
    clientSecretFile: block.client_secret_file,
    clientSecretVariable: block.client_secret_env_var,
    redirectUri: block.redirect_uri,
    scopes: block.scopes ?? [],
    authorizationParameters: more,
  };
}

function httpUrl(text: string, pointer: string): string {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return text;
  throw configInvalid(pointer, `must be an http or https URL, not ${text}`);
}

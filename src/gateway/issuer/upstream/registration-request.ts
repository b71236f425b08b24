// Registers this server as a client at a provider (RFC 7591 section 3). The configuration or the provider's metadata
// names the endpoint.

import { isObject, type Json, type JsonObject, parseJson, textsIn } from '#std/json.ts';
import { configInvalid, isProtected } from '../config-fault.ts';
import type { IssuerPorts } from '../ports.ts';
import type { RegistrationSettings, UpstreamClient } from './settings.ts';
import { plainWord } from './token-request.ts';
import { asUpstreamFailure, upstreamFailure } from './upstream.ts';

/** Authentication method of a client at the token endpoint (RFC 7591 section 2). */
type ClientMethod = 'client_secret_basic' | 'client_secret_post' | 'none';

export interface RegisteredClient {
  readonly id: string;
  /** Secret of the client. undefined if the method is `none`. */
  readonly secret?: string;
  readonly method: ClientMethod;
  readonly registeredAtMs: number;
  /** Expiry of the secret in milliseconds since 1970. undefined if the secret does not expire. */
  readonly expiresAtMs?: number;
}

export type OwnRegistration = UpstreamClient & { readonly registration: RegistrationSettings };

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 256 * 1024;
/** Maximum length of the id and the secret, because URLs contain the id, and headers contain both. */
const CREDENTIAL_MAX = 2048;
/** Time before the expiry in which a secret is no longer used. */
export const EXPIRY_SKEW_MS = 60_000;
/** Methods by preference. Headers are preferred to forms, because forms may be logged. */
const PREFERRED: readonly ClientMethod[] = ['client_secret_basic', 'client_secret_post', 'none'];

interface Endpoint {
  readonly url: string;
  /** True if the configuration names the endpoint or its host. */
  readonly allowPrivate: boolean;
  readonly method: ClientMethod;
  /** Scopes that the provider's metadata lists. */
  readonly scopes: readonly string[];
}

type Ports = Pick<IssuerPorts, 'fetch' | 'files' | 'environment' | 'clock'>;

/** Registers the client. Throws a Failure of the provider. */
export async function requestRegistration(ports: Ports, settings: OwnRegistration): Promise<RegisteredClient> {
  const { name, redirectUri, scopes: chosen, registration } = settings;
  const { softwareId, softwareStatement } = registration;
  const { url, allowPrivate, method, scopes: announced } = await registrationPlace(ports, settings);
  const scopes = chosen.length > 0 ? chosen : announced;
  const token = initialToken(ports, registration);
  const metadata = {
    redirect_uris: [redirectUri],
    client_name: 'skep',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
    software_id: softwareId,
    software_statement: softwareStatement,
  };
  const { status, answer } = await exchange(ports, name, {
    url,
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(metadata),
    allowPrivate,
  });
  if (status !== 201 && status !== 200) {
    const why = typeof answer?.error === 'string' ? ` ${plainWord(answer.error)}` : '';
    throw registrationFailure(name, `its registration endpoint answered ${status}${why}`);
  }
  return clientOf(settings, answer, method, ports.clock.now());
}

/** Returns the initial access token. undefined if no token is configured. Throws a Failure if the token is missing. */
export function initialToken(
  { files, environment }: Pick<IssuerPorts, 'files' | 'environment'>,
  { initialAccessTokenFile: file, initialAccessTokenVariable: variable }: RegistrationSettings,
): string | undefined {
  if (file === undefined && variable === undefined) return undefined;
  const token = (file === undefined ? environment[variable ?? ''] : files.read(file))?.trim();
  if (token !== undefined && token !== '') return token;
  throw configInvalid('/upstreams', `names an initial access token in ${file ?? variable}, but the token is missing`);
}

async function registrationPlace(ports: Ports, { name, registration }: OwnRegistration): Promise<Endpoint> {
  const { registrationEndpoint, discoveryUrl = '', allowPrivate } = registration;
  if (registrationEndpoint !== undefined) {
    return { url: registrationEndpoint, allowPrivate: allowPrivate ?? true, method: 'client_secret_basic', scopes: [] };
  }
  const request = { url: discoveryUrl, method: 'GET', headers: { accept: 'application/json' } } as const;
  const { status, answer } = await exchange(ports, name, { ...request, allowPrivate: allowPrivate ?? true });
  if (status !== 200 || answer === undefined) {
    throw registrationFailure(name, `its metadata at discoveryUrl cannot be read: status ${status}`);
  }
  if (!isMetadataOf(answer.issuer, discoveryUrl)) {
    throw registrationFailure(name, 'its metadata names an issuer to which discoveryUrl does not belong');
  }
  const { registration_endpoint: endpoint } = answer;
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
  if (url === null || !isProtected(url)) {
    throw registrationFailure(name, 'its metadata names no registration_endpoint with https');
  }
  return {
    url: url.href,
    allowPrivate: allowPrivate ?? url.hostname === new URL(discoveryUrl).hostname,
    method: methodOf(name, answer),
    scopes: textsIn(answer.scopes_supported),
  };
}

/**
 * Returns whether the metadata belongs to `discoveryUrl` (RFC 8414 section 3.3). For a URL without `/.well-known/`, the
 * issuer must have the origin of `discoveryUrl`.
 */
function isMetadataOf(issuer: unknown, discoveryUrl: string): boolean {
  const url = typeof issuer === 'string' ? URL.parse(issuer) : null;
  if (url === null) return false;
  if (!discoveryUrl.includes('/.well-known/')) return url.origin === new URL(discoveryUrl).origin;
  const path = url.pathname.replace(/\/$/, '');
  const places = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
  return places.some((place) =>
    [`${place}${path}`, `${path}${place}`].some((each) => url.origin + each === discoveryUrl),
  );
}

/** Chooses the authentication method. Metadata without methods means client_secret_basic (RFC 8414 section 2). */
function methodOf(provider: string, metadata: JsonObject): ClientMethod {
  const { token_endpoint_auth_methods_supported: said, code_challenge_methods_supported: challenges } = metadata;
  const methods = said === undefined ? ['client_secret_basic'] : textsIn(said);
  // Without a secret, only the challenge protects a code (RFC 7636).
  const usable = PREFERRED.filter((each) => each !== 'none' || textsIn(challenges).includes('S256'));
  const found = usable.find((each) => methods.includes(each));
  if (found !== undefined) return found;
  throw registrationFailure(provider, 'its token endpoint supports no authentication method of this server');
}

function clientOf(
  { name: provider, redirectUri }: OwnRegistration,
  answer: JsonObject | undefined,
  asked: ClientMethod,
  registeredAtMs: number,
): RegisteredClient {
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = answer ?? {};
  const said = answer?.token_endpoint_auth_method ?? asked;
  const method = PREFERRED.find((each) => each === said);
  if (!isCredential(id)) throw registrationFailure(provider, 'it sent no usable client_id');
  // The provider may change the requested values (RFC 7591 section 3.2.1).
  if (answer?.redirect_uris !== undefined && !textsIn(answer.redirect_uris).includes(redirectUri))
    throw registrationFailure(provider, `it registered other redirect_uris than ${redirectUri}`);
  if (method === undefined)
    throw registrationFailure(provider, 'it registered an authentication method that this server lacks');
  if (method === 'none') return { id, method, registeredAtMs };
  if (!isCredential(secret)) throw registrationFailure(provider, 'it sent no usable client_secret');
  const expiresAtMs = typeof expires === 'number' && expires > 0 ? Math.min(expires * 1000, TIME_MAX_MS) : undefined;
  // Each login would register another client if the secret expired at once.
  if (expiresAtMs !== undefined && expiresAtMs - EXPIRY_SKEW_MS <= registeredAtMs)
    throw registrationFailure(provider, 'it sent a client_secret that has expired, or expires within a minute');
  return { id, secret, method, registeredAtMs, expiresAtMs };
}

/** Maximum time. JSON has no infinity, so the largest exact integer is used. */
const TIME_MAX_MS = Number.MAX_SAFE_INTEGER;

/** Returns whether an id or secret is printable ASCII (RFC 6749, appendix A). */
function isCredential(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= CREDENTIAL_MAX && /^[\x20-\x7e]+$/.test(value);
}

/** Sends a request. Throws a Failure if no answer arrives, or if the provider is overloaded or fails (429 or 5xx). */
async function exchange(
  { fetch }: Ports,
  provider: string,
  request: Pick<Parameters<IssuerPorts['fetch']>[0], 'url' | 'method' | 'headers' | 'body' | 'allowPrivate'>,
): Promise<{ readonly status: number; readonly answer: JsonObject | undefined }> {
  try {
    const { status, body } = await fetch({ ...request, timeoutMs: TIMEOUT_MS, maxBytes: BYTES_MAX });
    if (status === 429 || status >= 500) {
      throw upstreamFailure(provider, 'unavailable', `${new URL(request.url).pathname} answered ${status}`);
    }
    const answer = parseJson(Buffer.from(body).toString('utf8'));
    return { status, answer: isObject(answer) ? answer : undefined };
  } catch (error) {
    throw asUpstreamFailure(provider, error);
  }
}

function registrationFailure(provider: string, what: string) {
  return upstreamFailure(provider, 'registration', `this server cannot register at the provider: ${what}`);
}

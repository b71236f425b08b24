// Serves dynamic client registration (RFC 7591). Reads the metadata as JSON and returns a client. The client gets a
// secret only if the settings allow secrets.

import { isObject, type JsonObject, parseJson, shownText } from '#std/json.ts';
import { errorAnswer, type IssuerAnswer, type IssuerRequest, jsonAnswer, type OAuthError } from '../message.ts';
import type { ClientRecord } from '../records.ts';
import { clientScopes, scopeNames } from '../resources.ts';
import type { IssuerSettings } from '../settings.ts';
import { type IssuerWorld, noteRefusal } from '../world.ts';
import { redirectFault } from './redirects.ts';
import { forcedFault, secretFor } from './secret.ts';

const REDIRECTS_MAX = 10;
const NAME_LENGTH_MAX = 256;
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

export async function registerClient(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const { ports, clients, settings } = world;
  const read = readRegistration(request, settings, ports.clock.now());
  if ('error' in read) {
    noteRefusal(world, read.error, read.description);
    return errorAnswer(read);
  }
  const id = uuidOf(ports.random(16));
  const secret = secretFor(ports, settings.confidential, { ...read.record, method: read.method });
  await clients.register(id, { ...read.record, secret: secret?.kept });
  const { redirectUris, grantTypes, name, registeredAtMs } = read.record;
  return jsonAnswer(201, {
    client_id: id,
    client_id_issued_at: Math.floor(registeredAtMs / 1000),
    redirect_uris: [...redirectUris],
    grant_types: [...grantTypes],
    response_types: ['code'],
    token_endpoint_auth_method: secret?.kept.method ?? 'none',
    client_secret: secret?.text,
    // The secret is valid as long as the client is known.
    client_secret_expires_at: secret && 0,
    application_type: read.applicationType,
    client_name: name,
    scope: settings.baselineScopes.length === 0 ? undefined : clientScopes(settings, read.record).join(' '),
  });
}

interface Registration {
  readonly record: ClientRecord;
  readonly applicationType: 'native' | 'web';
  /** Requested `token_endpoint_auth_method`. */
  readonly method: unknown;
}

function readRegistration(
  { headers, body }: IssuerRequest,
  { scopes: serverScopes, confidential }: Pick<IssuerSettings, 'scopes' | 'confidential'>,
  nowMs: number,
): Registration | OAuthError {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return invalidMetadata('Content-Type must be application/json');
  const given = parseJson(body);
  if (!isObject(given)) return invalidMetadata('the body must be a JSON object (RFC 7591 section 3.1)');
  // Some clients write unset members as null.
  const metadata: JsonObject = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const redirectUris = textList(metadata.redirect_uris) ?? [];
  if (redirectUris.length === 0 || redirectUris.length > REDIRECTS_MAX) {
    return { error: 'invalid_redirect_uri', description: `redirect_uris must name 1 to ${REDIRECTS_MAX} URIs` };
  }
  for (const uri of redirectUris) {
    const fault = redirectFault(uri);
    if (fault !== undefined) return { error: 'invalid_redirect_uri', description: `a redirect URI ${fault}` };
  }
  const mixed = forcedFault(confidential, redirectUris);
  if (mixed !== undefined) return { error: 'invalid_redirect_uri', description: `a redirect URI ${mixed}` };
  const fault = metadataFault(metadata);
  if (fault !== undefined) return invalidMetadata(fault);
  const name =
    typeof metadata.client_name === 'string' && metadata.client_name.trim() !== '' ? metadata.client_name : undefined;
  const askedGrants = textList(metadata.grant_types) ?? ['authorization_code'];
  const grantTypes = GRANT_TYPES.filter((each) => askedGrants.includes(each));
  const native = redirectUris.every((uri) => !uri.startsWith('https:'));
  const applicationType = applicationTypeOf(metadata) ?? (native ? 'native' : 'web');
  const scopes =
    typeof metadata.scope === 'string'
      ? scopeNames(metadata.scope).filter((scope) => serverScopes.includes(scope))
      : undefined;
  const record = { name, redirectUris, grantTypes, scopes, registeredAtMs: nowMs };
  return { record, applicationType, method: metadata.token_endpoint_auth_method };
}

/**
 * Returns the fault of unusable metadata. Other unsupported values are replaced, as RFC 7591 section 3.2.1 allows.
 * Unsupported grants and response types are dropped, and a client without a secret becomes public. The answer contains
 * the registered values.
 */
function metadataFault(metadata: JsonObject): string | undefined {
  const { client_name: name, token_endpoint_auth_method: method, application_type: type } = metadata;
  if (name !== undefined && (typeof name !== 'string' || name.length > NAME_LENGTH_MAX)) {
    return `client_name must be a text of at most ${NAME_LENGTH_MAX} characters`;
  }
  if (type !== undefined && applicationTypeOf(metadata) === undefined) return 'application_type must be native or web';
  if (method !== undefined && !['none', 'client_secret_basic', 'client_secret_post'].includes(shownText(method))) {
    return 'token_endpoint_auth_method must be none or one with a secret: registered clients have no keys';
  }
  const grants = metadata.grant_types === undefined ? ['authorization_code'] : textList(metadata.grant_types);
  if (!grants?.includes('authorization_code')) return 'grant_types must include authorization_code';
  const responses = metadata.response_types === undefined ? ['code'] : textList(metadata.response_types);
  return responses?.includes('code') ? undefined : 'response_types must include code';
}

function applicationTypeOf({ application_type: type }: JsonObject): 'native' | 'web' | undefined {
  return type === 'native' || type === 'web' ? type : undefined;
}

/** Returns undefined if the value is not a list of texts. */
function textList(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string');
  return texts.length === value.length ? texts : undefined;
}

function invalidMetadata(description: string): OAuthError {
  return { error: 'invalid_client_metadata', description };
}

/**
 * Formats bytes as a UUID (RFC 9562): version 4 (section 5.4) for random bytes, version 8 (section 5.8) for a digest.
 */
export function uuidOf(bytes: Buffer, version: 4 | 8 = 4): string {
  const own = Buffer.from(bytes.subarray(0, 16));
  own.writeUInt8((own.readUInt8(6) & 0x0f) | (version << 4), 6);
  own.writeUInt8((own.readUInt8(8) & 0x3f) | 0x80, 8);
  return own.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

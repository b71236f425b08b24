// Implements cross-application access (draft-ietf-oauth-identity-assertion-authz-grant) in two steps. The identity
// provider exchanges the id_token of a login for an assertion (RFC 8693). The authorization server of the backend
// exchanges the assertion for a token (RFC 7523).

import { decodeJwt } from 'jose/jwt/decode';
import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import { isLoopback } from '#std/address/loopback.ts';
import type { JsonObject } from '#std/json.ts';
import { configFault } from '../config-fault.ts';
import type { Credential, Credentialed, OutgoingRequest } from '../credential.ts';
import { endpointUrl } from '../endpoint.ts';
import { callerKey, createIssuedStore, type Issue, type Issued } from '../issued.ts';
import type { CredentialPorts } from '../ports.ts';
import { unknownCaller } from '../unknown-caller.ts';
import { readGrant, readIssued, unusableAnswer } from './answer.ts';
import { type AskEndpoint, createTokenClient, UNAVAILABLE } from './token-client.ts';

type XaaSettings = NonNullable<OutgoingAuthBlocks['xaa_config']>;

const TYPES = 'urn:ietf:params:oauth:token-type:';
const GRANTS = 'urn:ietf:params:oauth:grant-type:';
const ASSERTION = `${TYPES}id-jag`;

/**
 * Creates the credential. The caller's token must be the id_token of a login. `pointer` names the block. Throws a
 * Failure if the block or a secret is not usable.
 */
export function crossApplicationAccess(ports: CredentialPorts, block: XaaSettings, pointer: string): Credential {
  const [providerPointer, targetPointer] = [`${pointer}/idp_token_url`, `${pointer}/target_token_url`];
  requireTls(block.idp_token_url, providerPointer);
  if (block.insecure_target_token_url !== true) requireTls(block.target_token_url, targetPointer);
  const provider = createTokenClient(ports, {
    ...{ url: block.idp_token_url, urlPointer: providerPointer, secretPointer: providerPointer },
    id: block.idp_client_id,
    variable: block.idp_client_secret_env_var,
    file: block.idp_client_secret_file,
  });
  const target = createTokenClient(ports, {
    ...{ url: block.target_token_url, urlPointer: targetPointer, secretPointer: targetPointer },
    id: block.target_client_id,
    variable: block.target_client_secret_env_var,
    file: block.target_client_secret_file,
  });
  const tokens = createIssuedStore<string>(ports.clock, UNAVAILABLE);

  async function obtain(idToken: string): Promise<Issue<string>> {
    const assertion = await requestAssertion(provider, block, idToken);
    if (assertion.type !== 'issued') return assertion;
    const form = { grant_type: `${GRANTS}jwt-bearer`, assertion: assertion.value, ...scopeOf(block) };
    return target(form, [idToken, assertion.value], (response, context) => {
      return readGrant(response, { ...context, isOwn: true });
    });
  }

  return function applyAccess(request, caller) {
    const { token } = caller;
    if (token === undefined || token === '') return unknownCaller();
    const issued = tokens.get(callerKey(caller, token), caller, () => obtain(token));
    return issued instanceof Promise ? issued.then((each) => carried(request, each)) : carried(request, issued);
  };
}

function carried({ headers }: OutgoingRequest, issued: Issued<string>): Credentialed {
  return issued.ok ? { ok: true, headers: { ...headers, authorization: issued.value } } : issued;
}

function scopeOf({ scopes = [] }: XaaSettings): { readonly scope?: string } {
  return scopes.length === 0 ? {} : { scope: scopes.join(' ') };
}

function requestAssertion(ask: AskEndpoint, block: XaaSettings, idToken: string): Promise<Issue<string>> {
  const { target_audience: audience, target_resource: resource } = block;
  const form = {
    grant_type: `${GRANTS}token-exchange`,
    requested_token_type: ASSERTION,
    subject_token: idToken,
    subject_token_type: `${TYPES}id_token`,
    audience,
    ...(resource === undefined ? {} : { resource }),
    ...scopeOf(block),
  };
  return ask(form, [idToken], (response, context) => {
    const read = readIssued(response, context);
    return 'type' in read ? read : readAssertion(read.answer, block, context.display);
  });
}

/**
 * Validates the answer with the assertion (section 4.3.3 of the draft). The target authorization server verifies the
 * signature.
 */
function readAssertion(answer: JsonObject, block: XaaSettings, display: string): Issue<string> {
  const { access_token: assertion, issued_token_type: issuedType, token_type: type } = answer;
  if (issuedType !== ASSERTION || typeof assertion !== 'string' || assertion === '')
    return unusableAnswer(display, 'did not answer with an assertion (issued_token_type)');
  if (typeof type !== 'string' || type.toUpperCase() !== 'N_A')
    return unusableAnswer(display, 'answered with a token_type that is not N_A');
  const fault = assertionFault(assertion, block);
  return fault === undefined ? { type: 'issued', value: assertion } : unusableAnswer(display, fault);
}

/**
 * Returns the fault of an assertion. An assertion for another server must not be sent to the target, because the target
 * could use the assertion at that server.
 */
function assertionFault(
  assertion: string,
  { target_audience: audience, target_resource: resource }: XaaSettings,
): string | undefined {
  const claims = assertionClaims(assertion);
  if (claims === undefined) return 'answered with an assertion that is not a JWT';
  const { aud, resource: named } = claims;
  const isFor = aud === audience || (Array.isArray(aud) && aud.length === 1 && aud[0] === audience);
  if (!isFor) return 'answered with an assertion for another audience';
  const isNamed = resource === undefined || named === resource || (Array.isArray(named) && named.includes(resource));
  return isNamed ? undefined : 'answered with an assertion for another resource';
}

function assertionClaims(jwt: string): JsonObject | undefined {
  try {
    return decodeJwt<JsonObject>(jwt);
  } catch {
    // jose throws several error classes. Each class means that the text is not a JWT.
    return undefined;
  }
}

/** Throws a Failure if tokens and secrets would be sent to another machine without TLS. */
function requireTls(url: string, pointer: string): void {
  const { protocol, hostname } = new URL(endpointUrl(url, pointer).url);
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw configFault(pointer, 'must be an https URL, since tokens and secrets go there');
}

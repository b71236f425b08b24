// Exchanges the caller's token for temporary credentials of a role, and signs the request with the temporary
// credentials (AssumeRoleWithWebIdentity and Signature Version 4).

import { configFault } from './config-fault.ts';
import type { Credential, Credentialed, OutgoingRequest } from './credential.ts';
import { endpointUrl, noAnswer, postForm } from './endpoint.ts';
import { callerKey, createIssuedStore, type Issue } from './issued.ts';
import type { CredentialPorts } from './ports.ts';
import { createRoleChoice, type StsSettings } from './roles.ts';
import { isAmazonHeader, type SigningKeys, signRequest } from './sigv4.ts';
import { invalidAssumedRole, readAssumedRole } from './sts-answer.ts';
import { unknownCaller } from './unknown-caller.ts';

/** Valid RoleSessionName of the API. */
const SESSION_NAME = /^[A-Za-z0-9_+=,.@-]{2,64}$/;
/** Variable that sets another endpoint of the token service. AWS SDKs use the same variable. */
const ENDPOINT_VARIABLE = 'AWS_ENDPOINT_URL_STS';

const UNAVAILABLE = {
  code: 'sts-unavailable',
  message: 'the credentials for this server cannot be obtained at the moment',
} as const;

/**
 * Creates the credential, which must be applied after all other changes of the request. Throws a Failure if the block
 * is not usable.
 */
export function cloudSts(ports: CredentialPorts, block: StsSettings): Credential {
  const { region, service } = block;
  const chooseRole = createRoleChoice(block);
  const assume = createAssumeRole(ports, block);
  const keys = createIssuedStore<SigningKeys>(ports.clock, UNAVAILABLE);

  async function signAs(request: OutgoingRequest, signingKeys: SigningKeys): Promise<Credentialed> {
    const headers = await signRequest({ region, service }, signingKeys, request, ports.clock.now());
    return { ok: true, headers };
  }

  return function signAsRole(request, caller) {
    const { token, claims } = caller;
    if (token === undefined || token === '') return unknownCaller();
    const role = chooseRole(claims);
    if (role === undefined) return noRole();
    const session = claims[block.session_name_claim];
    if (typeof session !== 'string' || !SESSION_NAME.test(session)) return noSessionName(block.session_name_claim);
    const issued = keys.get(callerKey(caller, token, `${role} ${session}`), caller, () => assume(token, role, session));
    if (!(issued instanceof Promise)) return issued.ok ? signAs(request, issued.value) : issued;
    return issued.then((each) => (each.ok ? signAs(request, each.value) : each));
  };
}

/**
 * Removes headers of the caller that could be parts of a signature. If the proxy signed these headers with the role's
 * keys, AWS would accept the headers as set by the proxy. Must be applied before the headers of the configuration are
 * added.
 */
export function removeCallerSignature({ headers }: OutgoingRequest): Credentialed {
  const kept = Object.entries(headers).filter(([name]) => name !== 'authorization' && !isAmazonHeader(name));
  return { ok: true, headers: Object.fromEntries(kept) };
}

function noRole(): Credentialed {
  const message = 'the caller has no role for this server';
  return { ok: false, refusal: { status: 403, code: 'sts-role-missing', message } };
}

function noSessionName(claim: string): Credentialed {
  const message = 'the token has no claim that can name a session';
  const detail = `claim ${claim} is not 2 to 64 characters of letters, digits and _+=,.@-`;
  return { ok: false, refusal: { status: 401, code: 'sts-session-name-invalid', message, detail } };
}

type AssumeRole = (token: string, role: string, session: string) => Promise<Issue<SigningKeys>>;

/**
 * Returns a function that requests credentials for one token. The request is not signed, because the token proves the
 * caller.
 */
function createAssumeRole(ports: CredentialPorts, block: StsSettings): AssumeRole {
  const { url, display } = endpointOf(ports, block.region);
  return async function assumeRole(token, role, session) {
    const form = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: session,
      WebIdentityToken: token,
      DurationSeconds: String(block.session_duration),
    });
    try {
      return readAssumedRole(await postForm(ports, url, form, { accept: 'text/xml' }), display, [token]);
    } catch (error) {
      return noAnswer(error, invalidAssumedRole);
    }
  };
}

/** Returns the endpoint of the region. Regions in China have another domain. */
function endpointOf(ports: CredentialPorts, region: string): ReturnType<typeof endpointUrl> {
  const other = ports.environment[ENDPOINT_VARIABLE];
  if (other !== undefined && other !== '') return endpointUrl(other, `the variable ${ENDPOINT_VARIABLE}`);
  if (!/^[a-z0-9-]+$/.test(region)) throw configFault('/aws_sts_config/region', 'is not the name of a region');
  return endpointUrl(`https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`, '');
}

// Binds a credential to one caller. Transports call the resulting function for each request.

import type { Credential, CredentialCaller, CredentialRefusal, OutgoingRequest } from './credential.ts';

const REASONS = { 401: 'unauthorized', 403: 'forbidden', 502: 'unreachable', 503: 'busy' } as const;

interface CredentialFault {
  readonly ok: false;
  readonly fault: {
    readonly reason: (typeof REASONS)[CredentialRefusal['status']];
    readonly message: string;
    readonly detail?: string;
    readonly retryAfterSeconds?: number;
  };
}

type Authorized = { readonly ok: true; readonly headers: OutgoingRequest['headers'] } | CredentialFault;

export function authorizeAs(
  credential: Credential,
  { key, token, claims, expiry }: CredentialCaller,
): (request: OutgoingRequest) => Authorized | Promise<Authorized> {
  return function authorize(request) {
    const given = credential(request, { key, token, claims, expiry });
    if (given instanceof Promise) return given.then((each) => (each.ok ? each : refusedBy(each.refusal)));
    return given.ok ? given : refusedBy(given.refusal);
  };
}

function refusedBy({ status, message, detail, retryAfterSeconds }: CredentialRefusal): CredentialFault {
  return { ok: false, fault: { reason: REASONS[status], message, detail, retryAfterSeconds } };
}

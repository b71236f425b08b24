// Removes the caller's own credentials from a request.

import type { Credentialed, OutgoingRequest } from './credential.ts';

export function removeCallerToken({ headers }: OutgoingRequest): Credentialed {
  return { ok: true, headers: withoutAuthorization(headers) };
}

export function withoutAuthorization(headers: OutgoingRequest['headers']): OutgoingRequest['headers'] {
  const { authorization: _authorization, ...others } = headers;
  return others;
}

// Takes the caller's own credentials off a request.

import type { Credentialed, OutgoingRequest } from './credential.ts';

/** The server gets no Authorization. */
export function removeCallerToken({ headers }: OutgoingRequest): Credentialed {
  return { ok: true, headers: withoutAuthorization(headers) };
}

export function withoutAuthorization(headers: OutgoingRequest['headers']): OutgoingRequest['headers'] {
  const { authorization: _authorization, ...others } = headers;
  return others;
}

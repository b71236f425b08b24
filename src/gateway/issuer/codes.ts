// Lists the codes of faults of the authorization server.

export const ISSUER_CODES = {
  'issuer-config-invalid':
    'The configuration of the authorization server cannot be used: the message names the key and a valid value. The process does not start with it.',
  'issuer-key-invalid':
    'A signing key is not a private key in PEM, or of an unsupported kind. Supported are RSA of 2048 bits or more, P-256, P-384, P-521 and Ed25519. Correct the Secret; keys that were read before stay in use until then.',
  'issuer-secret-invalid':
    'An HMAC secret is shorter than 32 bytes or cannot be read, or the secret of a delegate client is empty or cannot be read. Correct the Secret; secrets that were read before stay in use until then.',
  'issuer-keys-ephemeral':
    'The authorization server has no signing key or no HMAC secret of its own and created one: after a restart, and on other replicas, logins and tokens are unknown. Set signingKeySecretRefs and hmacSecretRefs.',
  'issuer-storage-memory':
    'Logins are stored in this process only: a restart and other replicas do not know them. If that matters, set storage to redis.',
  'issuer-request-refused':
    'A request to the authorization server was refused by the rules of the protocol; the log has its error and the reason. Usually the client is outdated, or a link was used twice.',
  'issuer-client-document':
    'The document at the URL that is the id of a client cannot be fetched or used: the log says why. People see a page that says that the app cannot be recognised; the makers of the app have to correct it.',
  'issuer-too-many-requests':
    'An address sends more requests per minute to the authorization server than the limit. It may try again after the time in Retry-After.',
  'issuer-store-unavailable':
    'The store of the logins is unavailable. Logins and token refreshes get 503 until it is available; nothing is lost. Look at Redis.',
  'issuer-upstream-unavailable':
    'A provider that people log in with cannot be reached, is too slow or broken. The log names it; people are shown a page that says so, and may try again.',
  'issuer-upstream-refused':
    'A provider that people log in with refused the code, the refresh token or this server itself. Compare client id, client secret and redirect URI with those at the provider.',
  'issuer-upstream-invalid':
    'A provider that people log in with sent an answer that cannot be used: it is not JSON, or has a token that does not verify, another subject, or no subject. The log names the fault.',
  'issuer-upstream-registration':
    'This server could not register itself as a client at a provider (dcrConfig): the log says which step failed. Nobody can log in until it succeeds; it is tried again at later logins. Check the discovery URL or registration endpoint, the initial access token and the software statement.',
  'issuer-trusted-unavailable':
    'The keys of a trusted issuer (trustedIssuers) cannot be fetched: the log says why. Its tokens and assertions get 503 until they can, unless keys of the last hour are known.',
  'issuer-token-exchanged':
    'A token of this server was given for a token or an assertion (delegateClients, trustedIssuers). The log has the client, the subject and the audience.',
  'issuer-upstream-opaque':
    'Policies read the token of a provider (primaryUpstreamProvider), but its access tokens are not JWTs: callers have no known claims, and every call is denied. Name a provider whose access tokens are JWTs, or none.',
  'issuer-session-ended':
    'The session that a token belongs to was ended, revoked or used up, or its account at the provider is no longer valid. The client logs in again.',
  'issuer-internal': 'The authorization server has a bug: its log has the reason; please report it.',
} as const;

export type IssuerCode = keyof typeof ISSUER_CODES;

export function isIssuerCode(code: string): code is IssuerCode {
  return Object.hasOwn(ISSUER_CODES, code);
}

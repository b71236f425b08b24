// Lists the codes of refused requests, and of problems with providers.

export const AUTH_CODES = {
  'credentials-missing': 'The request carries no bearer token. Send `Authorization: Bearer <token>`.',
  'authorization-repeated': 'The request carries more than one Authorization header. Send exactly one.',
  'authorization-malformed':
    'The Authorization header is not `Bearer <token>` with one token of RFC 6750 characters. Look for quotes, line ends and a second word in the header that the client sends.',
  'token-too-long': 'The token is longer than the service accepts. Ask the provider for a smaller one.',
  'provider-unknown':
    'No configured provider can validate the token: its issuer is not configured, and no provider has an introspectionUrl.',
  'token-unjudged':
    'A provider that might accept the token could not be asked: its keys or its introspection endpoint cannot be reached, or too many unknown tokens came. The client gets 503 and may try again with the same token.',
  'session-ended':
    'The token is valid, but its login has ended: it was revoked, or its account at the provider has expired. The client has to log in again.',
  'scope-missing':
    'The token is valid but lacks the scope: mcp-registry:read for reading, mcp-registry:write for a manual sync. Ask the provider for a token with it, or leave auth.oauth.enforceScopes off.',
  'token-refused':
    'Every provider that could validate the token refused it; the log has one reason per attempt, each with a code of its own here.',
  'token-malformed': 'The token looks like a JWT but is not well-formed. Usually it was cut off or changed in transit.',
  'algorithm-refused':
    'The JWT is signed with an algorithm that is not accepted: none, an HMAC, or an unknown one. Let the provider sign with RS, PS, ES or EdDSA.',
  'type-refused':
    'The `typ` of the JWT must be absent, JWT or at+jwt, as for an access token. The token has another purpose, such as an ID or logout token. If the issuer uses another `typ`, name it in `tokenTypes` of its provider.',
  'token-bound':
    'The token is bound to a key or certificate of the client (`cnf`), and the proof of it is not checked: anyone who found the token could use it. Ask the provider for an unbound bearer token.',
  'key-unknown':
    'The key that the JWT names is not among the keys of the provider, even after fetching them again (at most once in 30 s). Check that this provider issued the token, and that jwksUrl is right.',
  'key-unusable': 'The key that the JWT names cannot verify it: wrong type, too short, or several keys fit.',
  'signature-invalid':
    'The signature of the JWT does not fit the key of the provider. The token was changed, or is from another issuer that uses the same key id; get a new one.',
  'claim-missing':
    'A required claim is missing. `exp`, `iss` and `aud` are required of every token, and `kubernetes.io` and `sub` too if only tokens of one service account or namespace are accepted.',
  'claim-invalid':
    'A claim has a value of the wrong type: `exp`, `nbf` and `iat` are numbers of seconds, `iss` is text, `aud` text or a list of it. If only tokens of one service account or namespace are accepted, `kubernetes.io` names both, and `sub` names the same account. The provider has to be fixed.',
  'token-expired':
    'The `exp` claim is not in the future. There is no leeway: the client has to get a new token before `exp`, and the clocks of provider and service have to be right.',
  'token-not-yet-valid':
    'The `nbf` claim is in the future. Usually the clock of the provider or of the service is wrong: there is no leeway.',
  'issuer-mismatch':
    'The `iss` claim differs from the issuerUrl of the provider. They are compared exactly: look for a slash at the end, http for https, another host name.',
  'audience-mismatch':
    'The `aud` claim does not contain the audience configured for the provider. Ask the provider for a token for that audience, or correct `audience`.',
  'account-mismatch':
    'The token belongs to another service account than `kubernetes.serviceAccount` and `kubernetes.namespace` of `oidcConfig` name. Request a token of that account, or correct these fields; without them, every account of the cluster is accepted.',
  'token-inactive':
    'The introspection endpoint says that the token is not active: expired, revoked, or unknown to it. Get a new one.',
  'token-unsupported':
    'The introspection endpoint does not support tokens of this kind, usually JWTs. So only the signature of the token counts: look at the other reason, or get an opaque token.',
  'keys-unavailable':
    'The keys of the provider could not be loaded and none are remembered. Check issuerUrl, jwksUrl and the network.',
  'introspection-unavailable':
    'The introspection endpoint did not send a usable response. Check introspectionUrl, the credentials and the network.',
  'introspection-busy':
    'Too many tokens that the provider does not know came in a short time; it is asked about further ones a moment later.',
  'introspection-unusable':
    'The introspection endpoint sent no usable response for this one token: a status such as 400, or a body that is not a JSON object. This does not decide about the token; the client gets 503. Call the endpoint by hand (curl).',
  'keys-stale':
    'The keys of the provider could not be refreshed; the remembered ones stay in use for a while. Check the provider and the network soon.',
  'provider-answer-invalid':
    'A provider responded with a status or a body that cannot be used. Call issuerUrl, jwksUrl or introspectionUrl by hand (curl): they must return JSON, not a page for people.',
  'provider-issuer-mismatch':
    'The discovery document names another issuer than the configured issuerUrl. Write issuerUrl exactly as the document has it, slash at the end included.',
  'provider-url-insecure':
    'The discovery document of an https issuer names a jwks_uri that is not https. Fix it at the provider, or set jwksUrl.',
  'provider-secret-invalid':
    'A secret or token file of a provider is empty or contains characters that a header cannot contain. Write only the secret into it, in one line.',
} as const;

export type AuthCode = keyof typeof AUTH_CODES;

// Lists the codes of requests that get no credentials, and of other faults of credentials.

export const CREDENTIAL_CODES = {
  'credential-config-invalid':
    'The configuration of the credentials that the proxy uses for its server is invalid: the message names the key and the reason. A proxy does not start with it; a running proxy keeps the last valid configuration.',
  'credential-secret-missing':
    'A secret that the configuration names is missing: the variable is unset, or the file cannot be read. Check the Secret and its mount.',
  'credential-secret-invalid':
    'A secret is empty or contains characters that a header cannot carry, such as a line end inside. Correct the Secret.',
  'credential-secret-stale':
    'The file of a secret can no longer be used: it was deleted, is empty, or contains characters that a header cannot carry. The last good value stays in use until the file is right again.',
  'credential-caller-unknown':
    'The server is called with credentials that come from the caller, and the request has no caller with a token. Send a token; the request is never passed on without one.',
  'exchange-token-refused':
    "The token endpoint did not accept the caller's token: invalid_grant or invalid_request. The caller needs a new token, or one that the endpoint trusts; the log has the endpoint's words.",
  'exchange-denied':
    'The token endpoint does not give this caller a token: access_denied. Its policy has to allow the exchange for the caller and the audience.',
  'exchange-misconfigured':
    'The token endpoint refused the proxy itself or the parameters of its request: client, secret, grant type, audience or scopes. Compare token_exchange_config with the settings of the endpoint.',
  'exchange-answer-invalid':
    'The answer of the token endpoint does not follow RFC 8693: it is not JSON, is too large, is a redirect, or lacks access_token, issued_token_type or token_type Bearer. Check token_url.',
  'exchange-unavailable':
    'The token endpoint cannot be reached, is too slow, busy or broken. The proxy tries again after a short while; until then callers get 503.',
  'upstream-token-unavailable':
    "The person's token at the provider has expired and cannot be refreshed or looked up at the moment, because the provider or the store cannot be reached. The next call tries again.",
  'sts-role-missing':
    'No role mapping fits the claims of the caller, and there is no fallback role. Add a mapping, or add the caller to a group that a mapping names.',
  'sts-session-name-invalid':
    'The claim that names the session is missing, or is not 2 to 64 characters of letters, digits and _+=,.@-. Choose another claim with session_name_claim.',
  'sts-token-refused':
    "The token service did not accept the caller's token: it is expired, from an issuer or audience that the service does not trust, or not a JWT. The log has the words of the service; check the identity provider in IAM.",
  'sts-denied':
    'The token service does not let the caller assume the role: its trust policy has to allow sts:AssumeRoleWithWebIdentity for this issuer, audience and subject.',
  'sts-misconfigured':
    'The token service refused the request of the proxy, for example because the duration exceeds the longest of the role or the region is not enabled. The log has the words of the service; correct aws_sts_config or the role.',
  'sts-answer-invalid':
    'The answer of the token service does not follow its API. Check the region, and AWS_ENDPOINT_URL_STS if it is set.',
  'sts-unavailable':
    'The token service cannot be reached, is too slow, busy or broken. The proxy tries again after a short while; until then callers get 503.',
} as const;

export type CredentialCode = keyof typeof CREDENTIAL_CODES;

// Lists the codes for requests that get no credentials, and for faults around them.

export const CREDENTIAL_CODES = {
  'credential-config-invalid':
    'The configuration of how the proxy authenticates to its server cannot be used: the message names the key and says why. The proxy does not start with it, and keeps the last one that it could use.',
  'credential-secret-missing':
    'A secret that the configuration names is not there: the variable is unset, or the file cannot be read. Check the Secret and how it is mounted.',
  'credential-secret-invalid':
    'A secret is empty or holds characters that a header cannot carry, such as a line end inside. Correct the Secret.',
  'credential-secret-stale':
    'The file of a secret can no longer be used: it is gone, empty, or holds characters that a header cannot carry. The last good value stays in use until the file is right again.',
  'credential-caller-unknown':
    'The server is called with rights that come from the caller, and the request has no caller with a token. Send a token; the request is never passed on without.',
  'exchange-token-refused':
    "The token endpoint did not accept the caller's token: invalid_grant or invalid_request. The caller needs a new token, or one that the endpoint trusts; the log has the endpoint's words.",
  'exchange-denied':
    'The token endpoint does not give this caller a token: access_denied. Its policy has to allow the exchange for the caller and the audience.',
  'exchange-misconfigured':
    'The token endpoint refused the proxy itself or what it asks for: client, secret, grant type, audience or scopes. Compare token_exchange_config with what the endpoint knows.',
  'exchange-answer-invalid':
    'The token endpoint answered with something that is no answer of RFC 8693: no JSON, too large, a redirect, or without access_token, issued_token_type or token_type Bearer. Check token_url.',
  'exchange-unavailable':
    'The token endpoint cannot be reached, is too slow, busy or broken. It is asked again after a short while; until then callers get 503.',
  'upstream-token-unavailable':
    "The person's token at the provider has expired and cannot be refreshed, or looked up, at the moment: the provider or the store cannot be reached. It is tried again with the next call.",
  'sts-role-missing':
    'No role mapping fits the claims of the caller, and there is no fallback role. Add a mapping, or give the caller the group that one asks for.',
  'sts-session-name-invalid':
    'The claim that names the session is missing, or is not 2 to 64 characters of letters, digits and _+=,.@-. Choose another claim with session_name_claim.',
  'sts-token-refused':
    "The token service did not accept the caller's token: expired, of an issuer or audience that it does not trust, or not a JWT. The log has its words; check the identity provider in IAM.",
  'sts-denied':
    'The token service does not let the caller take the role: its trust policy has to allow sts:AssumeRoleWithWebIdentity for this issuer, audience and subject.',
  'sts-misconfigured':
    'The token service refused what the proxy asks for, such as a duration above that of the role or a region that is not enabled. The log has its words; correct aws_sts_config or the role.',
  'sts-answer-invalid':
    'The token service answered with something that is no answer of its API. Check the region, and AWS_ENDPOINT_URL_STS where it is set.',
  'sts-unavailable':
    'The token service cannot be reached, is too slow, busy or broken. It is asked again after a short while; until then callers get 503.',
} as const;

export type CredentialCode = keyof typeof CREDENTIAL_CODES;

// Defines failure codes of outbound requests.

export const OUTBOUND_CODES = {
  'outbound-invalid-url':
    'The URL cannot be requested: it is not an absolute http or https URL, or it carries a user name or password; correct the setting that names it.',
  'outbound-insecure': 'The URL is http, but only https is accepted; configure the https address.',
  'outbound-invalid-range':
    'An entry of outbound.allowPrivate is neither an IP address nor a CIDR range; write it like 10.0.0.0/8 or fd00::/8.',
  'outbound-proxy-invalid':
    'The environment variable HTTPS_PROXY or http_proxy is not an http or https URL: correct it, or remove it.',
  'outbound-ca-invalid': 'The CA file cannot be read or holds no PEM certificate; correct the file or its path.',
  'outbound-refused-address':
    'The host is, or resolves to, a private or special address; if that is intended, name its range in outbound.allowPrivate, or set the field that the message names.',
  'outbound-redirect-refused':
    'The server redirects too often, to a broken location, or from https to http; configure the final address.',
  'outbound-timeout':
    'The server did not connect or answer in time; look at the server and the network, the request is tried again later.',
  'outbound-too-large': 'The answer is larger than the limit for this request; nothing of it was used.',
  'outbound-tls':
    'No trusted TLS connection: the certificate is unknown, expired or for another name; correct it, or name its CA in outbound.caFile.',
  'outbound-unreachable':
    'No answer: the name is unknown, the connection was refused or lost, or the answer is not HTTP; it is tried again later.',
  'outbound-aborted':
    'The request was cancelled because its caller stopped: the run was stopped, or it lost its lock. The next run repeats it.',
} as const;

export type OutboundCode = keyof typeof OUTBOUND_CODES;

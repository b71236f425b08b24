// Lists the codes of error responses. answer.ts has their statuses.

export const REGISTRY_CODES = {
  'query-invalid':
    'A query parameter has no valid value, or is given twice. The response (400) names the parameter and the reason.',
  'cursor-invalid':
    'The cursor is not one that this service issued for this registry and these filters. Start again without a cursor.',
  'server-name-invalid': 'The name of the server is not of the form `namespace/name`. Percent-encode its slash as %2F.',
  'version-invalid':
    'The version contains invalid characters, or is too long. Request one of the list of versions, or `latest`.',
  'registry-not-found':
    'The service has no registry of this name: its configuration lists them in `registries`. /extension/v0/registries lists them.',
  'server-not-found':
    'The registry has no server of this name. Names are exact, and a filter of the registry may leave it out; the list of servers has all of them.',
  'version-not-found':
    'The server has no such version, or it was deleted. Its list of versions has all of them, with `include_deleted=true` also deleted ones.',
  'client-unknown':
    'The service has no list for this client. The response (404) names the existing lists, such as /NAME/clients/vscode.json.',
  'client-list-too-long':
    'The registry has more servers than an administrator can review, so it has no list for clients: select fewer by its filter.',
  'route-not-found':
    'The service has nothing at this path. Paths begin with the name of a registry, as in /NAME/v0.1/servers; /openapi.json has them all.',
  'method-not-allowed': 'The path exists but not with this method; the Allow header names its methods.',
  'registry-not-synced': 'The registry has no source that could be synced: it is of the type kubernetes or managed.',
  'sync-refused':
    'A service in mode anonymous syncs only for clients with the token in auth.syncTokenFile (401 for other clients), and not at all without that setting (403): use `skep trigger`, or wait for the interval.',
  'rate-limited':
    'The client sent more requests than limits.requestsPerMinute allows. Try again after the seconds that Retry-After names.',
  'request-invalid':
    'The request is not valid HTTP for this service: its path, size or form. Check whether the client, or a proxy in between, changes it.',
  'request-timeout':
    'The request did not arrive in time, or its response took too long. Try again; if the error stays, check the database, or raise limits.requestTimeout.',
  'service-stopping':
    'The service was asked to stop: /readiness reports this, so that no new requests come. Requests that still come are served for `limits.shutdownGrace`.',
  'catalogue-unavailable':
    'The database cannot be reached. The service keeps running; try again after the seconds that Retry-After names.',
  'tokens-unavailable':
    'No identity provider could check the token; the log has the reasons as token-unjudged. Try again after the seconds that Retry-After names.',
  'internal-error':
    'A fault of the service. The log has the cause under the request id: please report the fault, with that record.',
} as const;

export type RegistryCode = keyof typeof REGISTRY_CODES;

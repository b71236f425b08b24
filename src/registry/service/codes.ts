// The stable codes of responses without data; answer.ts has the texts that clients get.

export const REGISTRY_CODES = {
  'query-invalid': 'A query parameter has no valid value, or is given twice. The answer (400) says which and why.',
  'cursor-invalid':
    'The cursor is not one that this service issued for this registry and these filters. Start again without a cursor.',
  'server-name-invalid': 'The name of the server is not of the form `namespace/name`. Percent-encode its slash as %2F.',
  'version-invalid':
    'The version holds characters that no version has, or is too long. Ask for one that the list of versions has, or for `latest`.',
  'registry-not-found':
    'The service serves no registry of this name: it has those of `registries` in its configuration. /extension/v0/registries lists them.',
  'server-not-found':
    'The registry has no server of this name. Names are exact, and a filter of the registry may leave it out; the list of servers has what there is.',
  'version-not-found':
    'The server has no such version, or it was deleted. Its list of versions has what there is, with `include_deleted=true` also what there was.',
  'client-unknown':
    'The service makes no list for this client. The answer (404) names the lists that there are, such as /NAME/clients/vscode.json.',
  'client-list-too-long':
    'The registry has more servers than an administrator can review, so that no list for clients is made of it: name fewer by its filter.',
  'route-not-found':
    'The service has nothing at this path. Paths begin with the name of a registry, as in /NAME/v0.1/servers; /openapi.json has them all.',
  'method-not-allowed': 'The path exists but not with this method; the Allow header names those that it has.',
  'registry-not-synced': 'The registry has no source that could be synced: it is of the type kubernetes or managed.',
  'sync-refused':
    'A service in mode anonymous syncs for whoever has the token in auth.syncTokenFile (401 for others), and for no one without that setting (403): use `skep trigger`, or wait for the interval.',
  'rate-limited':
    'The client sent more requests than limits.requestsPerMinute allows. Try again after the seconds that Retry-After names.',
  'request-invalid':
    'The request is not valid HTTP for this service: its path, size or form. Look at what the client, or a proxy in between, makes of it.',
  'request-timeout':
    'The request did not arrive, or was not answered, in time. Try again; where it lasts, look at the database, or raise limits.requestTimeout.',
  'service-stopping':
    'The service was asked to stop: /readiness says so, so that no new requests come. Those that do are answered for `limits.shutdownGrace`.',
  'catalogue-unavailable':
    'The database cannot be reached. The service keeps running; try again after the seconds that Retry-After names.',
  'tokens-unavailable':
    'No identity provider could say whether the token is valid; the log has the reasons as token-unjudged. Try again after the seconds that Retry-After names.',
  'internal-error':
    'A fault of the service. The log has the cause under the request id: please report it, with that record.',
} as const;

export type RegistryCode = keyof typeof REGISTRY_CODES;

// Lists the codes of findings about skep's kinds.

export const KINDS_CODES = {
  'deprecated-field':
    'The field, or its spelling, is still read but deprecated in the version of the object: write the field that the message names instead.',
  'invalid-pod-template':
    'podTemplateSpec is not a pod template: correct it; until then the children are kept unchanged.',
  'authz-policy-invalid': 'A text of inline authorization is not valid Cedar: correct it at the named line and column.',
  'authz-entities-invalid': 'The Cedar entities of inline authorization are not a JSON list of entities: correct them.',
  'field-not-supported':
    'The field requests something that skep does not support, and without it the resource would behave differently: the message names the reason. Remove the field.',
  'authz-config-invalid':
    'The ConfigMap or the MCPAuthzConfig with the authorization settings contains none, or invalid ones. A ConfigMap needs version, type cedarv1 and cedar.policies; an MCPAuthzConfig needs type cedarv1 and config.policies.',
  'oidc-config-invalid':
    'The ConfigMap or the MCPOIDCConfig with the OIDC settings cannot be used: it needs at least an issuer.',
  'annotation-invalid': 'The value of a setting that is an annotation is invalid: write one that the message names.',
  'annotation-idle': 'A setting that is an annotation has no effect on this resource: remove it.',
  'annotation-unknown': 'The name of an annotation is similar to a setting: correct it, or it has no effect.',
  'lock-missing':
    'The annotation skep.dev/tools-lock is enforce, and the server has no valid ToolLock: write one with `skep lock`. Until then the children are kept unchanged, and virtual servers do without an MCPServerEntry.',
  'sleep-conflict':
    'The server sleeps while no client uses it (skep.dev/sleep-after), and another setting contradicts that: remove one of the two.',
  'restart-time-invalid':
    'The annotation that restarts a server does not contain a time: write one in the form of RFC 3339.',
  'permission-profile-invalid':
    'The ConfigMap with the permission profile does not contain one: it needs network.outbound with the allowed hosts and ports.',
  'permission-profile-unenforced':
    'The permission profile requests something that Kubernetes cannot grant or limit; access that cannot be limited is denied.',
  'env-set-twice': 'A variable is set by env and by a Secret, or by two Secrets: remove one of the two.',
  'argument-set-twice': 'An argument has a field of its own: the server would refuse to start. Set the field instead.',
  'filter-glob-invalid': 'A filter by name is not a glob, and would match nothing: correct it.',
  'git-commit-short':
    'A Git source names a commit by its first digits, which servers do not accept: write all 40 (or 64) of them.',
  'embedding-image-unknown':
    'The image does not look like text-embeddings-inference, for which the arguments are meant: check it.',
  'git-auth-unused':
    'Credentials are given for a repository that is not read over HTTP: remove them, or change the URL.',
  'registry-service-config': 'The registry service would refuse the resulting configuration: correct the named field.',
  'database-password-unusable':
    'A Secret with a database password lacks the key, its value contains a line break, or a password file has no line for a user of the database: correct the Secret.',
  'config-yaml-invalid':
    'The text in configYAML of an MCPRegistry is not a configuration of the registry server, or skep needs something that it does not say. The message names the key; docs/registry.md lists the keys.',
  'config-yaml-file-missing':
    'configYAML names a file that the container does not have, or that skep cannot trace to a Secret, a ConfigMap or a claim: mount the object by volumes and volumeMounts, at the path that configYAML names.',
  'database-ca-missing':
    'The database must be verified with certificates, and none are named: name a ConfigMap with them in skep.dev/database-ca.',
  'metrics-port-taken':
    'The port of the metrics of a virtual server is a port that the server itself listens on, so it would not start: choose another prometheusPort.',
  'tool-name-taken': 'Two overrides give tools the same name, and clients could not tell them apart: rename one.',
  'tool-override-hidden':
    'A tool has an override, but the list of allowed tools lacks it: list it by the name that clients see.',
  'ca-bundle-invalid':
    'An entry of a ConfigMap for certificate authorities contains no PEM certificate: write certificates into it.',
  'authorization-parameter-reserved':
    'additionalAuthorizationParams sets a parameter that belongs to the protocol: remove it.',
  'auth-server-conflict':
    'The authorization server that authServerRef names cannot be used with the other settings of the resource: the message says which of them to change.',
  'remote-url-invalid': 'The URL of a remote server cannot be used: the message says why.',
  'address-invalid':
    'A URL or an address is invalid, and the program that needs it would not start: the message shows the right form.',
  'introspection-url-invalid':
    'Opaque tokens would not be checked at an HTTPS URL: correct introspectionUrl, or leave it to discovery.',
  'oidc-issuer-insecure':
    'Tokens are verified with keys that are sent unprotected: use HTTPS, or set insecureAllowHTTP if this is not dangerous.',
  'oidc-issuer-invalid': 'The issuer of tokens is not a URL: write it exactly as the iss claim of its tokens has it.',
  'oidc-audience-missing':
    'Without an audience only tokens that name the URL of the server are accepted, which many issuers never issue: set audience.',
  'session-in-one-replica':
    'The state of a session is in the replica that began it, and another one cannot continue the session: set sessionStorage to redis, or keep sessionAffinity at ClientIP.',
  'jwks-url-invalid':
    'The signing keys of an issuer are not at an HTTPS URL: correct jwksUrl, or leave it to discovery.',
  'header-invalid': 'A header cannot be sent: correct its name, or remove line breaks from its value.',
  'header-restricted': 'Only the proxy itself can set this header: remove it.',
  'header-set-twice': 'A header has two values: remove one of them.',
  'header-plain-secret': 'A header that looks like a secret is readable here: put its value into a Secret.',
  'webhook-invalid':
    'A webhook cannot be used: the message says why. Its URL is https (http with insecureSkipVerify), without credentials, and not the node, a metadata service or the API server; its name is unique.',
  'webhook-unverified':
    'The certificate of a webhook is not checked, so another server could respond in its place. Set tlsConfig.caSecretRef in place of insecureSkipVerify.',
  'rate-limit-without-users':
    'A limit for each user needs authenticated callers: set oidcConfigRef, or an externalAuthConfigRef with an authorization server of its own. Or use a shared limit.',
  'upstream-provider-unknown':
    'A token of an upstream provider is required, but users never log in with that provider: name one of authServerConfig.upstreamProviders.',
  'health-check-timeout':
    'A health check may take longer than the time to the next one: shorten its timeout or lengthen the interval.',
  'field-without-effect':
    'The field is ignored, because the field that the message names counts: remove one of the two.',
  'tool-name-long':
    'Many clients refuse longer names, so they see it shortened, with a digest at its end: give it a shorter name by `overrides`.',
  'group-member-unknown': 'The group has no member of that name: correct the name, or add the member to the group.',
  'group-member-unusable':
    'A member of the group cannot be called, and the virtual server leaves it out: the message names the correction.',
  'backend-auth-unusable':
    'An MCPExternalAuthConfig cannot authenticate a virtual server to a backend: name one of another type.',
  'composite-tool-invalid':
    'A named workflow is invalid, so the server leaves it out: the status of its own resource has the reason.',
  'composite-tool-name-taken': 'Two workflows would be offered under one name: rename one of the tools.',
  'role-matcher-invalid':
    'The matcher of a role mapping is not a CEL expression over claims that returns true or false: correct it.',
  'role-matcher-constant': 'The matcher of a role mapping is true for every token: use fallbackRoleArn for that.',
  'role-mapping-unreachable': 'A role mapping is never used: remove it, or change its test.',
  'scope-repeated': 'A scope is in the list twice: remove one.',
  'client-secret-unused': 'A client secret is given without clientId: give both, or neither.',
  'secret-over-http': 'Secrets or tokens are sent over plain http to a host outside the cluster: use https.',
  'auth-server-secret-unusable':
    'A Secret of the authorization server has the wrong content: signing keys are private keys in PEM (RSA of 2048 bits or more, EC, Ed25519), HMAC secrets have 32 bytes or more, secrets of delegate clients are not empty.',
  'auth-server-upstreams':
    'The authorization server has several upstream providers: only a VirtualMCPServer can use several, so leave one.',
  'auth-server-issuer':
    'oidcConfig does not accept the tokens of the authorization server: make the two issuers the same.',
  'auth-server-scopes':
    'baselineClientScopes, or a client of delegateClients, names a scope that the authorization server does not issue: add it to the scopes of the settings for tokens, or leave it out.',
  'auth-server-trust':
    'A trusted issuer or a delegate client of the authorization server could not be used, or would be trusted with too much: the message says which field to change.',
  'auth-server-confidential':
    'The authorization server would issue secrets to clients that cannot keep them, or over a connection that others can read. The message says which field to change.',
  'upstream-endpoint-refused':
    'An endpoint of an upstream provider has http or a private address, which insecureAllowHTTP or allowPrivateIPs of the provider forbids: change the endpoint or the field.',
  'auth-server-in-one-replica':
    'Logins of the authorization server are in one replica, or end with its process, and there may be several: name signing keys, HMAC secrets and a Redis, or set replicas to 1.',
  'external-auth-idle':
    'These settings for authentication to the server behind the proxy have no useful effect: remove them, or add the settings that the message names.',
} as const;

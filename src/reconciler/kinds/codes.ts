// The codes of findings about our kinds.

export const KINDS_CODES = {
  'deprecated-field':
    'The field, or its spelling, is still read but deprecated in the version of the object: write what the message names instead.',
  'invalid-pod-template': 'podTemplateSpec is no pod template: correct it; until then the children are kept unchanged.',
  'authz-policy-invalid':
    'A text of inline authorization holds no Cedar policies: correct it at the line and column named.',
  'authz-entities-invalid': 'The Cedar entities of inline authorization are not a JSON list of entities: correct them.',
  'field-not-supported':
    'The field asks for something that skep does not do, and without it the resource would do something else: the message names the reason. Remove the field.',
  'authz-config-invalid':
    'The ConfigMap or the MCPAuthzConfig with the authorization settings holds none, or broken ones. A ConfigMap needs version, type cedarv1 and cedar.policies; an MCPAuthzConfig needs type cedarv1 and config.policies.',
  'oidc-config-invalid':
    'The ConfigMap or the MCPOIDCConfig with the OIDC settings cannot be used: it needs at least an issuer.',
  'annotation-invalid': 'The value of a setting that is an annotation does not fit: write one that the message names.',
  'annotation-idle': 'A setting that is an annotation has no effect on such a resource: remove it.',
  'annotation-unknown': 'An annotation is nearly called like a setting: correct its name, or it has no effect.',
  'lock-missing':
    'The annotation skep.dev/tools-lock is enforce, and the server has no ToolLock that can be used: write one with `skep lock`. Until then the children are kept unchanged, and virtual servers do without an MCPServerEntry.',
  'restart-time-invalid': 'The annotation that restarts a server holds no time: write one as RFC 3339 has it.',
  'permission-profile-invalid':
    'The ConfigMap with the permission profile holds none: it needs network.outbound with what may be reached.',
  'permission-profile-unenforced':
    'The permission profile asks for something that Kubernetes cannot give or limit; what cannot be limited is not open.',
  'env-set-twice': 'A variable is set by env and by a Secret, or by two Secrets: remove one of the two.',
  'argument-set-twice':
    'An argument is given that a field of its own sets: the server would refuse to start. Set the field instead.',
  'filter-glob-invalid': 'A filter by name is no glob, and would let nothing through: correct it.',
  'git-commit-short':
    'A Git source names a commit by its first digits, which no server understands: write all 40 (or 64) of them.',
  'embedding-image-unknown':
    'The image does not look like one of text-embeddings-inference, which is started with its arguments: check it.',
  'git-auth-unused':
    'Credentials are given for a repository that is not read over HTTP: remove them, or change the URL.',
  'registry-service-config':
    'The registry service would refuse the configuration that follows: correct the field named.',
  'database-password-unusable':
    'A Secret with a database password lacks the key, its value holds a line break, or a password file has no line for a user of the database: correct the Secret.',
  'config-yaml-invalid':
    'The text in configYAML of an MCPRegistry is not a configuration of the registry server, or skep needs something that it does not say. The message names the key; docs/registry.md lists the keys.',
  'config-yaml-file-missing':
    'configYAML names a file that the container does not have, or that skep cannot trace to a Secret, a ConfigMap or a claim: mount the object by volumes and volumeMounts, at the path that configYAML names.',
  'database-ca-missing':
    'The database is to be checked by certificates, and none are named: name a ConfigMap with them in skep.dev/database-ca.',
  'metrics-port-taken':
    'The port of the metrics of a virtual server is a port that the server itself listens on, so it would not start: choose another prometheusPort.',
  'tool-name-taken': 'Two overrides give tools the same name, and clients could not tell them apart: rename one.',
  'tool-override-hidden':
    'A tool is shown differently, but the list of tools to let through lacks it: list it by the name that clients see.',
  'ca-bundle-invalid':
    'An entry of a ConfigMap that should hold certificate authorities holds no PEM certificate: write certificates into it.',
  'authorization-parameter-reserved':
    'additionalAuthorizationParams sets a parameter that belongs to the protocol: remove it.',
  'auth-server-conflict':
    'The authorization server that authServerRef names cannot be used with the other settings of the resource: the message says which of them to change.',
  'remote-url-invalid': 'The URL of a remote server cannot be used as it is: the message says why.',
  'address-invalid':
    'A URL or an address cannot be read, and what needs it would not start: the message says which form is right.',
  'introspection-url-invalid':
    'Opaque tokens would not be checked at an HTTPS URL: correct introspectionUrl, or leave it to discovery.',
  'oidc-issuer-insecure':
    'Tokens are checked with keys that travel unprotected: use HTTPS, or set insecureAllowHTTP where it is no danger.',
  'oidc-issuer-invalid': 'The issuer of tokens is no URL: write it exactly as the iss claim of its tokens has it.',
  'oidc-audience-missing':
    'Without an audience only tokens that name the URL of the server are accepted, which many issuers never make: set audience.',
  'session-in-one-replica':
    'What belongs to a session is in the replica that began it, and another one cannot go on with it: set sessionStorage to redis, or keep sessionAffinity at ClientIP.',
  'jwks-url-invalid':
    'The signing keys of an issuer are not at an HTTPS URL: correct jwksUrl, or leave it to discovery.',
  'header-invalid': 'A header cannot be sent: correct its name, or take line breaks out of its value.',
  'header-restricted': 'Only the proxy itself can set this header: remove it.',
  'header-set-twice': 'One header has two values: remove one of them.',
  'header-plain-secret': 'A header that looks like a secret is readable here: put its value into a Secret.',
  'webhook-invalid':
    'A webhook cannot be used: the message says why. Its URL is https (http with insecureSkipVerify), without credentials, and not the node, a metadata service or the API server; its name is its own.',
  'webhook-unverified':
    'The certificate of a webhook is not checked, so that its answers may be those of somebody else. Set tlsConfig.caSecretRef in place of insecureSkipVerify.',
  'rate-limit-without-users':
    'A limit for each user needs authenticated callers: set oidcConfigRef, or an externalAuthConfigRef with an authorization server of its own. Or use a shared limit.',
  'upstream-provider-unknown':
    'A token of an upstream provider is wanted that users never log in with: name one of authServerConfig.upstreamProviders.',
  'health-check-timeout':
    'A health check may take longer than the time to the next one: shorten the one or lengthen the other.',
  'field-without-effect':
    'The field is not read, because the one that the message names counts: remove one of the two.',
  'tool-name-long':
    'Many clients refuse longer names, so they see this one cut, with a digest at its end: give it a shorter name by `overrides`.',
  'group-member-unknown': 'Nothing of that name is in the group: correct the name, or let it join the group.',
  'group-member-unusable':
    'A member of the group cannot be called as it is, and the virtual server does without it: the message says what to correct.',
  'backend-auth-unusable':
    'An MCPExternalAuthConfig cannot authenticate a virtual server to a backend: name one of another type.',
  'composite-tool-invalid':
    'A workflow is named that is not valid, so the server has to do without: its own resource says what is wrong.',
  'composite-tool-name-taken': 'Two workflows would be offered under one name: rename one of the tools.',
  'role-matcher-invalid':
    'The matcher of a role mapping is no CEL expression over claims that gives true or false: correct it.',
  'role-matcher-constant': 'The matcher of a role mapping is true of every token: use fallbackRoleArn for that.',
  'role-mapping-unreachable': 'A role mapping is never used: remove it, or change its test.',
  'scope-repeated': 'A scope is in the list twice: remove one.',
  'client-secret-unused': 'A client secret is given without clientId: give both, or neither.',
  'secret-over-http': 'Secrets or tokens are sent over plain http to a host outside the cluster: use https.',
  'auth-server-secret-unusable':
    'A Secret of the authorization server holds something else than it should: signing keys are private keys in PEM (RSA of 2048 bits or more, EC, Ed25519), HMAC secrets have 32 bytes or more.',
  'auth-server-upstreams':
    'The authorization server has several upstream providers: only a VirtualMCPServer can use several, so leave one.',
  'auth-server-issuer':
    'The tokens of the authorization server are not those that oidcConfig accepts: make the two issuers the same.',
  'auth-server-scopes':
    'baselineClientScopes names a scope that the authorization server does not give: add it to the scopes of the settings for tokens, or leave it out.',
  'auth-server-confidential':
    'The authorization server would give secrets to clients that cannot keep them, or over a connection that others can read. The message says which field to change.',
  'upstream-endpoint-refused':
    'An endpoint of an upstream provider has http or a private address, which insecureAllowHTTP or allowPrivateIPs of the provider forbids: change the endpoint or the field.',
  'auth-server-in-one-replica':
    'Logins of the authorization server are in one replica, or end with its process, and there may be several: name signing keys, HMAC secrets and a Redis, or set replicas to 1.',
  'external-auth-idle':
    'The settings for authentication to what is behind the proxy have no effect, or none that is of use: remove them, or add what the message names.',
} as const;

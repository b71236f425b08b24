// Why our definitions differ from those of the existing platform, apart from fields that are refused (docs/migrating.md). Each
// row has patterns for differences (`*` is any text) and their reason; the first pattern that fits a difference explains it.
// In one file, because it is one table.

interface Explained {
  readonly reason: string;
  readonly of: readonly string[];
}

export const DIFFERENCES: readonly Explained[] = [
  {
    reason: 'the name, which ends up in names of Services, volumes and labels, is checked when the resource is applied',
    of: ['* rule added: self.metadata.name.size() <= *', '*.metadata.name added'],
  },
  {
    reason: 'an empty text means nothing: the field is left out',
    of: ['* minLength: none -> 1'],
  },
  {
    reason: 'a text has a bound, so that an API server can estimate the cost of rules and no object grows without one',
    of: ['* maxLength: none -> *', '* maxItems: none -> *', '* maxProperties: none -> *'],
  },
  {
    reason: 'a list or map that may not be empty is left out: an empty one would permit nothing, or mean nothing',
    of: ['* minItems: none -> 1', '* minProperties: none -> 1'],
  },
  {
    reason: 'a value that does not fit would fail in the cluster, or have no effect there',
    of: [
      '* pattern: none -> *',
      '* minimum: none -> 0',
      '* minimum: none -> 1',
      '* minimum: none -> 900',
      '* maximum: none -> *',
    ],
  },
  {
    reason: 'the same numbers: 32 bits are enough for a count, and the API server says so',
    of: ['* format: none -> "int32"'],
  },
  {
    reason: 'a reference is one value: parts of two references must not be merged',
    of: ['* x-kubernetes-map-type: none -> "atomic"'],
  },
  {
    reason: 'the same list in other words: it is one value, or its items have names',
    of: [
      '* x-kubernetes-list-type: none -> "atomic"',
      '* x-kubernetes-list-type: none -> "map"',
      '* x-kubernetes-list-map-keys: none -> ["*"]',
    ],
  },
  {
    reason: 'only the reconciler writes the list, as a whole',
    of: ['*.status.* x-kubernetes-list-type: "set" -> "atomic"'],
  },
  {
    reason: 'the order of the list is kept, and a manager owns all of it; the same item twice changes nothing',
    of: ['MCPToolConfig.spec.toolsFilter x-kubernetes-list-type: "set" -> "atomic"'],
  },
  {
    reason: 'one Secret may be read into two variables, so its name tells no two items apart',
    of: [
      'MCPServer.spec.secrets x-kubernetes-list-type: "map" -> "atomic"',
      'MCPServer.spec.secrets x-kubernetes-list-map-keys: ["name"] -> none',
    ],
  },
  {
    reason: 'an object without settings is the same as none',
    of: ['* default: none -> {}'],
  },
  {
    reason: 'the existing platform fills in the value when it reads the object',
    of: [
      '*.storage default: none -> {"type":"memory"}',
      '*.insecureSkipVerify default: none -> false',
      '*.tokenLifespans.* default: none -> *',
      '*.tokenResponseMapping.* default: none -> *',
      '*.userInfo.httpMethod default: none -> "GET"',
      '*.userInfoOverride.httpMethod default: none -> "GET"',
      '*.oidcConfig.scopes default: none -> ["openid","offline_access"]',
      '*.subjectTokenType default: none -> *',
      '*.kubernetesServiceAccount.useClusterAuth default: none -> true',
      '*.aggregation default: none -> {"conflictResolution":"prefix"}',
      '*.excludeAllTools default: none -> false',
      '*.excludeAll default: none -> false',
      '*.config.incomingAuth.oidc.* default: none -> false',
      '*.optimizer.* default: none -> *',
      '*.config.outgoingAuth.source default: none -> "discovered"',
      '*.config.outgoingAuth.*.awsSts.* default: none -> *',
    ],
  },
  {
    reason: 'the key has a default, so it may be left out; a reference without a name is refused',
    of: [
      '*.configMapRef.key default: none -> "ca.crt"',
      '*.configMapRef.key required: true -> false',
      '*.configMapRef.name default: "" -> none',
      '*.configMapRef.name required: false -> true',
      '*.imagePullSecrets[].name default: "" -> none',
      'MCPRegistry.spec.pgpassSecretRef.name default: "" -> none',
      'MCPRegistry.spec.pgpassSecretRef.name required: false -> true',
      '*.imagePullSecrets[].name required: false -> true',
    ],
  },
  {
    reason: 'a resource without a spec, or without a field that nothing works without, is refused when it is applied',
    of: ['*.spec required: false -> true'],
  },
  {
    reason: 'the field has a default, or a rule that accepts its other spelling, in place of being required',
    of: [
      '*.authzConfig.type required: true -> false',
      '*.permissionProfile.type required: true -> false',
      'MCPRemoteProxy.spec.remoteUrl required: true -> false',
      'VirtualMCPServer.spec.groupRef required: true -> false',
      '*.authServerRef.kind required: true -> false',
      '*.cimd.enabled required: true -> false',
      'VirtualMCPServer.spec.config.incomingAuth.oidc.clientId required: true -> false',
      'VirtualMCPServer.spec.config.outgoingAuth.source required: true -> false',
    ],
  },
  {
    reason:
      'registries, databaseConfig and authConfig have the same settings as fields, and an object has one of the two',
    of: [
      'MCPRegistry.spec.configYAML required: true -> false',
      'MCPRegistry.spec rule added: has(self.registries) != has(self.configYAML)',
      'MCPRegistry.spec rule added: !has(self.configYAML) || !(has(self.databaseConfig) || has(self.authConfig))',
      'MCPRegistry.spec rule added: !has(self.pgpassSecretRef) || has(self.configYAML)',
    ],
  },
  {
    reason: 'an item that is not an object would be no volume',
    of: [
      'MCPRegistry.spec.volumeMounts x-kubernetes-preserve-unknown-fields: true -> none',
      'MCPRegistry.spec.volumeMounts[] type: none -> "object"',
      'MCPRegistry.spec.volumes x-kubernetes-preserve-unknown-fields: true -> none',
      'MCPRegistry.spec.volumes[] type: none -> "object"',
    ],
  },
  {
    reason: 'the documents, or v1alpha1 of the existing platform up to v0.15, have the field',
    of: [
      'EmbeddingServer.spec.hubTokenSecretRef added',
      'MCPExternalAuthConfig.spec.cloudSts added',
      'MCPExternalAuthConfig.spec.type=cloudSts added',
      'MCPRegistry.spec.* added',
      'MCPRegistry.status.* added',
      '*.status.referencingServers added',
      '*.caBundleRef added',
      'MCPRemoteProxy.spec.* added',
      'MCPRemoteProxy.status.externalURL added',
      'MCPServer.spec.* added',
      'MCPToolConfig.status.* added',
      'VirtualMCPServer.spec.incomingAuth.oidcConfig added',
      '*.type=external_auth_config_ref added',
    ],
  },
  {
    reason: 'the documents call a server that is ready Running',
    of: ['*.status.phase=Ready missing', '*.status.phase=Running added'],
  },
  {
    reason: 'only the program of the existing platform writes the field, and reads it',
    of: [
      'MCPRegistry.status.readyReplicas missing',
      'MCPRegistry.status.url missing',
      '*.discoveredBackends[].mcpRevision missing',
    ],
  },
  {
    reason: 'an API server keeps whatever is in the settings; the fields are described for people, and checked here',
    of: [
      'MCPAuthzConfig.spec.config.policies added',
      'MCPAuthzConfig.spec.config.entities_json added',
      'MCPAuthzConfig.spec.config.*_claim_name added',
      'MCPAuthzConfig.spec.config.primary_upstream_provider added',
      'MCPAuthzConfig.spec.config.group_entity_type added',
    ],
  },
  {
    reason: 'the same rule in other words',
    of: [
      'VirtualMCPServer.spec rule missing: *rateLimiting*',
      "* rule missing: self.type == '*' ? has(self.*) : !has(self.*)",
      "* rule added: (self.type == '*') == has(self.*)",
      "* rule missing: self.type == 'unauthenticated' ? *",
      "* rule added: self.type != 'unauthenticated' || *",
      "* rule added: self.type == 'awsSts' || *",
      "* rule added: !(self.type == 'awsSts' || *",
      "*.upstreamProviders[] rule missing: self.type == 'oidc' ? *",
      "* rule missing: self.provider == 'redis' ? has(self.address) : true",
      "* rule added: self.provider != 'redis' || has(self.address)",
      '* rule missing: !(has(self.authzConfig) && has(self.authzConfigRef))',
      '* rule added: !has(self.authzConfig) || !has(self.authzConfigRef)',
      '* rule missing: !has(self.headers) || *',
      '* rule added: !has(self.headers) || *',
      "VirtualMCPServer.spec.incomingAuth rule missing: self.type == 'oidc' ? has(self.oidcConfigRef) : true",
      "VirtualMCPServer.spec.incomingAuth rule added: self.type != 'oidc' || has(self.oidcConfig) || has(self.oidcConfigRef)",
    ],
  },
  {
    reason: 'a reference is there if and only if the type says so, in either spelling of the type',
    of: ["* rule added: (self.type in ['external_auth_config_ref', 'externalAuthConfigRef']) == *"],
  },
  {
    reason: 'the documents call the service cloud-mcp; requests are signed for aws-mcp',
    of: ['MCPExternalAuthConfig.spec.awsSts.service default: "aws-mcp" -> "cloud-mcp"'],
  },
  {
    reason: 'two spellings of one field, or settings in the object and settings that it names, must not disagree',
    of: [
      'EmbeddingServer.spec rule added: !has(self.hfTokenSecretRef) || !has(self.hubTokenSecretRef)',
      'MCPExternalAuthConfig.spec rule added: !has(self.awsSts) || !has(self.cloudSts)',
      '* rule added: !has(self.oidcConfig) || !has(self.oidcConfigRef)',
      '* rule added: !has(self.telemetry) || !has(self.telemetryConfigRef)',
      '* rule added: !has(self.config.telemetry) || !has(self.telemetryConfigRef)',
      '* rule added: has(self.remoteURL) || has(self.remoteUrl)',
      '* rule added: !has(self.remoteURL) || *',
      '* rule added: has(self.groupRef) || has(self.config.groupRef)',
      '* rule added: !has(self.config.groupRef) || *',
    ],
  },
  {
    reason:
      'the field is a name or an object with a name, so that either spelling passes in either version; bounds refuse other types',
    of: [
      '*.groupRef type: "object" -> none',
      '*.groupRef not: none -> *',
      '*.groupRef x-kubernetes-preserve-unknown-fields: none -> true',
    ],
  },
  {
    reason: 'headers, and a model, are for openai alone; names of headers are checked with all others, in code',
    of: [
      '*.optimizer rule missing: !has(self.embeddingHeaders) || *',
      '*.optimizer rule added: *embeddingProvider*',
      '*.optimizer.embeddingProvider default: "tei" -> none',
    ],
  },
  {
    reason: 'a field that is left out means false',
    of: [
      '*.disableUpstreamTokenInjection default: false -> none',
      '*.allowConfidentialClientRegistration default: false -> none',
      '*.embeddedAuthServer.insecureAllowHTTP default: false -> none',
      '*.authServerConfig.insecureAllowHTTP default: false -> none',
      '*.insecureAllowConfidentialOverLoopbackHTTP default: false -> none',
      '*.allowMayAct default: false -> none',
    ],
  },
  {
    reason: 'a field that is left out means 10',
    of: ['*.audit.maxDelegationDepth default: 10 -> none'],
  },
  {
    reason: 'a field that is left out means true',
    of: ['*.detectApplicationErrors default: true -> none'],
  },
  {
    reason: 'the documents let remoteURL be private, so only a value that is written down forbids it',
    of: ['MCPRemoteProxy.spec.allowPrivateEndpoint default: false -> none'],
  },
  {
    reason: 'a proxy without settings for tokens would let anyone use the remote server with its credentials',
    of: ['MCPRemoteProxy.spec rule added: has(self.oidcConfig) || has(self.oidcConfigRef)'],
  },
  {
    reason: 'names of Secrets and keys may not be empty, here as everywhere',
    of: ['*.delegateClients[] rule missing: has(self.clientSecretRef) *'],
  },
  {
    reason: 'the settings for tokens that the documents write in the object make users known as well',
    of: ['MCPServer.spec rule added: *rateLimiting*', 'MCPServer.spec rule missing: *rateLimiting*'],
  },
  {
    reason: 'URLs and durations are checked with messages of their own',
    of: [
      'MCPWebhookConfig.spec.*.url format: "uri" -> none',
      'MCPWebhookConfig.spec.*.timeout format: "duration" -> none',
    ],
  },
  {
    reason: 'a certificate without its key proves nothing',
    of: ['MCPWebhookConfig.spec.*.tlsConfig rule added: has(self.clientCertSecretRef) == has(self.clientKeySecretRef)'],
  },
  {
    reason: 'the issuer is checked as a URL, by a rule with a message of its own',
    of: [
      '*.issuer pattern: "^https?://[^\\\\s?#]+[^/\\\\s?#]$" -> none',
      '*.issuer rule added: *',
      '* rule added: (has(self.insecureAllowHTTP) *',
    ],
  },
  {
    reason: 'the same URLs, ARNs and regions; a URL has a host and no spaces',
    of: [
      '* pattern: "^https?://*" -> "^https?://*"',
      '* pattern: "^https://*" -> "^https://*"',
      '* pattern: "^arn:*" -> "^arn:*"',
      '*.region pattern: * -> *',
    ],
  },
  {
    reason: 'the same characters in another spelling',
    of: ['*.baselineClientScopes[] pattern: * -> *'],
  },
  {
    reason: 'the number is checked by a rule, because no pattern knows that it is at most 1 or 2',
    of: [
      '*.samplingRate pattern: * -> none',
      '*.hybridSearchSemanticRatio pattern: * -> none',
      '*.semanticDistanceThreshold pattern: * -> none',
      '* rule added: self.matches(*) && double(self) <= *',
    ],
  },
  {
    reason: 'the words are listed, so that a mistyped one is refused and an editor offers them',
    of: ['* words: any -> *', '*.subjectTokenType pattern: * -> none'],
  },
  {
    reason:
      'a value that the program would refuse when it starts, or a field without an effect there, is refused when it is applied',
    of: [
      '*.modelCache.size rule added: *',
      '*.awsSts rule added: *',
      '*.roleMappings[] rule added: has(self.claim) != has(self.matcher)',
      '*.sentinelConfig rule added: has(self.sentinelAddrs) != has(self.sentinelService)',
      '* rule added: duration(self) > *',
      '* rule added: duration(self) >= *',
      '*.circuitBreaker.timeout rule missing: *',
      '*.permissionProfile rule added: *',
      '*.toolsOverride{} rule added: *',
      '*.overrides{} rule added: *',
      '*.output rule added: *',
      '*.properties{} rule added: *',
      '*.steps[] rule added: *',
      '*.itemVar rule added: *',
      '*.onError rule added: *',
      '*.aggregation rule added: *',
      '*.oauth2Config rule added: *',
      '*.config.incomingAuth.* rule added: *',
      '*.headerInjection rule added: *',
      '*.tokenExchange rule added: *',
      '*.xaa rule added: *',
      'VirtualMCPServer.spec rule added: *',
    ],
  },
  {
    reason: 'only a proxy may set the header',
    of: ['* rule added: !(self.lowerAscii() in *'],
  },
  {
    reason: 'the nested step and the nested properties are described, so that a mistyped field is refused',
    of: [
      '*.properties x-kubernetes-preserve-unknown-fields: true -> none',
      '*.properties{} added',
      '*.step x-kubernetes-preserve-unknown-fields: true -> none',
      '*.step.* added',
      '*.defaultResults type: none -> "object"',
    ],
  },
  {
    reason: 'an unknown field would be kept, and have no effect',
    of: ['VirtualMCPServer.spec.config x-kubernetes-preserve-unknown-fields: true -> none'],
  },
];

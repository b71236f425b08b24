// What can be wrong with the files that one side writes and another reads, by stable code.

export const CONTRACT_CODES = {
  'registry-config-syntax': 'The registry configuration is not one well-formed YAML document.',
  'registry-config-schema': 'A field of the registry configuration is unknown, missing, or of the wrong type or form.',
  'registry-config-origin': 'A registry needs exactly one of git, api, file, kubernetes and managed.',
  'registry-config-exclusive': 'Fields exclude each other, or exactly one of several is needed.',
  'registry-config-name-reserved': 'The name of a registry is a path of the service itself. Choose another name.',
  'registry-config-name-unusable': 'The name of a registry cannot be a part of a URL. Choose another name.',
  'registry-config-name-duplicate': 'Two registries have the same name. Names are unique.',
  'registry-config-providers-missing':
    'The mode is oauth (also without an auth section), which needs a resourceUrl and at least one provider. Configure them, or write `auth: {mode: anonymous}`.',
  'registry-config-public-path': 'A public path does not start with a slash, or makes everything public.',
  'registry-config-interval': 'An interval is 0. Give a time such as 30m, or leave out syncPolicy.',
  'registry-config-glob': 'A name pattern of a filter is malformed. Correct it: as it is, nothing would pass.',
  'registry-config-url': 'A URL is malformed, holds credentials or a fragment.',
  'registry-config-scopes':
    'Scopes are enforced that the discovery document does not name, so clients do not ask for them. Add them to scopesSupported.',
  'registry-config-address':
    'A trusted proxy, or an entry of outbound.allowPrivate, is neither an IP address nor a CIDR range such as 10.0.0.0/8.',
  'registry-config-no-effect': 'A setting is accepted for compatibility but has no effect.',
} as const;

export type ContractCode = keyof typeof CONTRACT_CODES;

// Defines the codes of findings in the registry service's configuration. The reconciler renders this file, or an
// operator writes it.

export const CONTRACT_CODES = {
  'registry-config-syntax':
    'The registry configuration is not one well-formed YAML document. Correct it at the place named; a second document (`---`) has no place in it.',
  'registry-config-schema':
    'A field of the registry configuration is unknown, missing, or of the wrong type or form. docs/configuration.md has every key; the message names the nearest one.',
  'registry-config-origin':
    'A registry needs exactly one of git, api, file, kubernetes and managed. Give one of them, and take the others away.',
  'registry-config-exclusive':
    'Fields exclude each other, or exactly one of several is needed. The message names them: keep one.',
  'registry-config-name-reserved': 'The name of a registry is a path of the service itself: choose another name.',
  'registry-config-name-unusable': 'The name of a registry cannot be a part of a URL. Choose another name.',
  'registry-config-name-duplicate': 'Two registries have the same name. Names are unique.',
  'registry-config-providers-missing':
    'The mode is oauth (also without an auth section), which needs a resourceUrl and at least one provider. Configure them, or write `auth: {mode: anonymous}`.',
  'registry-config-public-path':
    'A public path does not start with a slash, or makes everything public. Write paths such as /docs; to make everything public, set `auth: {mode: anonymous}`.',
  'registry-config-interval': 'An interval is 0. Give a time such as 30m, or leave out syncPolicy.',
  'registry-config-glob': 'A name pattern of a filter is malformed, so it matches nothing: correct it.',
  'registry-config-url':
    'A URL is malformed, holds credentials or a fragment. Write it as https://host/path, and put credentials in the files that have fields of their own.',
  'registry-config-scopes':
    'Scopes are enforced that the discovery document does not name, so clients do not request them. Add them to scopesSupported.',
  'registry-config-address':
    'A trusted proxy, or an entry of outbound.allowPrivate, is neither an IP address nor a CIDR range such as 10.0.0.0/8. Names are not accepted: write the range that they resolve to.',
  'registry-config-no-effect':
    'A setting is accepted for compatibility but has no effect. Remove it. docs/configuration.md describes the settings that have an effect.',
} as const;

export type ContractCode = keyof typeof CONTRACT_CODES;

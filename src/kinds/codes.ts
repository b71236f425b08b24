// The codes of findings about our kinds. Knows nothing about how they are found.

export const KINDS_CODES = {
  'deprecated-field': 'The field is still read but will go away: write the field that the message names instead.',
  'invalid-pod-template':
    'podTemplateSpec holds something that is no pod template: correct it; until then the children stay as they live.',
  'authz-policy-invalid':
    'A text of inline authorization holds no Cedar policies: correct it at the line and column named.',
  'authz-entities-invalid': 'The Cedar entities of inline authorization are not a JSON list of entities: correct them.',
  'authz-config-invalid':
    'The ConfigMap with the authorization settings holds none, or broken ones: it needs version, type cedarv1 and cedar.policies.',
  'oidc-config-invalid': 'The ConfigMap with the OIDC settings cannot be used: it needs at least an issuer.',
  'env-set-twice': 'A variable is set by env and by a Secret, or by two Secrets: remove one of the two.',
  'argument-set-twice':
    'An argument is given that a field of its own sets: the server would refuse to start. Set the field instead.',
  'filter-glob-invalid': 'A filter by name is no glob, and would let nothing through: correct it.',
  'git-auth-unused':
    'Credentials are given for a repository that is not read over HTTP: remove them, or change the URL.',
  'registry-service-config':
    'The registry service would refuse the configuration that follows: correct the field named.',
  'database-password-unusable': 'A Secret with a database password lacks the key, or its value holds a line break.',
  'tool-name-taken': 'Two overrides give tools the same name, and clients could not tell them apart: rename one.',
  'tool-override-hidden':
    'A tool is shown differently, but the list of tools to let through lacks it: list it by the name that clients see.',
} as const;

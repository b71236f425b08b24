// Defines the kind of 1Password's operator (developer.1password.com, "Kubernetes Operator").

import { type ForeignKind, fields, objectWith, TEXT } from './words.ts';

export const ONE_PASSWORD: readonly ForeignKind[] = [
  {
    apiVersions: ['onepassword.com/v1'],
    kind: 'OnePasswordItem',
    namespaced: true,
    schema: objectWith(fields({ itemPath: TEXT }), { type: TEXT }),
  },
];

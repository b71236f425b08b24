// Defines the field with Secrets for pulling images, and returns its references.

import { list, object, type Static } from '#std/schema.ts';
import type { Reference } from '../kind.ts';
import { nameField } from '../selectors.ts';

export const PullSecrets = list(
  object({ name: nameField('Name of the Secret.') }, 'A Secret with registry credentials.', { atomic: true }),
  'Secrets that images are pulled with, for the pods and for the generated service accounts.',
);

/** Returns the names of the resource's Secrets and of the Secrets in skep.yaml, which apply to every pod. */
export function pullSecretNames(
  secrets: Static<typeof PullSecrets> | undefined,
  all: readonly string[],
): readonly string[] {
  return [...(secrets ?? []).map(({ name }) => name), ...all];
}

/**
 * Returns optional references, because Kubernetes delays pods until the Secrets exist. `pointer`: pointer of the field.
 */
export function pullSecretReferences(
  secrets: Static<typeof PullSecrets> | undefined,
  pointer: string,
): readonly Reference[] {
  return (secrets ?? []).map(({ name }, index) => {
    return { pointer: `${pointer}/${index}/name`, kind: 'Secret', name, optional: 'waited' };
  });
}

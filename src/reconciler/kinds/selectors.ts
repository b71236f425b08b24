// Defines fields that name a ConfigMap, a Secret or one of their keys, in the resource's own namespace.

import { reference } from '#std/schema/spellings.ts';
import { bool, object, optional, text } from '#std/schema.ts';

const KEY_PATTERN = '^[-._a-zA-Z0-9]+$';
const NAME = { minLength: 1, maxLength: 253 };
const KEY = { minLength: 1, maxLength: 253, pattern: KEY_PATTERN };

export function nameField(description: string) {
  return text(description, NAME);
}

/** Defines a field in which both name and key are required. */
export function secretKeyRef(description: string) {
  return object(
    {
      name: nameField('Name of the Secret.'),
      key: text('Key inside the Secret.', KEY),
    },
    description,
    { atomic: true },
  );
}

/** Defines a SecretKeySelector of Kubernetes. */
export function secretKeySelector(description: string) {
  return keySelector('Secret', text('Key inside the Secret.', KEY), description);
}

/** Defines a SecretKeySelector whose key has a default. */
export function secretKeySelectorWithDefault(description: string, key: string) {
  return keySelector('Secret', text('Key inside the Secret.', { ...KEY, default: key }), description);
}

/** Defines a ConfigMapKeySelector of Kubernetes. */
export function configMapKeySelector(description: string) {
  return keySelector('ConfigMap', text('Key inside the ConfigMap.', KEY), description);
}

/** Defines a ConfigMapKeySelector whose key has a default. */
export function configMapKeyWithDefault(description: string, key: string) {
  return keySelector('ConfigMap', text('Key inside the ConfigMap.', { ...KEY, default: key }), description);
}

function keySelector(kind: string, key: ReturnType<typeof text>, description: string) {
  return object(
    {
      name: nameField(`Name of the ${kind}.`),
      key,
      optional: optional(bool(`True: it is not an error if the ${kind} or its key is missing.`)),
    },
    description,
    { atomic: true },
  );
}

/** Defines the field of references that contain only a name, such as ToolConfigRef and ExternalAuthConfigRef. */
export function namedRef(description: string, kind: string) {
  return object({ name: refName(kind) }, description);
}

export function refName(kind: string) {
  return nameField(`Name of the ${kind}, in the same namespace.`);
}

/**
 * Defines `groupRef` of members: a name in v1alpha1, an object with the name in v1beta1. skep's kinds read the name.
 */
export function groupRefField(description: string) {
  return reference(description, NAME);
}

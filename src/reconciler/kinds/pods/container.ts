// Defines the fields of a container: environment, volumes, secrets, resources.

import { bool, list, object, optional, quantity, text } from '#std/schema.ts';
import { nameField } from '../selectors.ts';

/** Limits of variable names that Kubernetes accepts: printable ASCII except `=`. */
const ENV_NAME = { minLength: 1, maxLength: 253, pattern: '^[ -<>-~]+$' };
const VOLUME_NAME = { minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };

const EnvVar = object(
  {
    name: text('Name of the variable.', ENV_NAME),
    value: text('Value of the variable; nothing in it is replaced.'),
  },
  'An environment variable with a plain value. Secret values belong in secrets.',
);

export function envField(description: string) {
  return list(EnvVar, description, { keys: ['name'] });
}

const Volume = object(
  {
    name: text('Name of the volume; unique in the pod.', VOLUME_NAME),
    hostPath: text('Path on the node.', { minLength: 1 }),
    mountPath: text('Absolute path inside the container.', { minLength: 1, pattern: '^[^:]+$' }),
    readOnly: bool('True: the container can read but not write it.', false),
  },
  'A path of the node that is mounted into the container.',
);

export function volumesField(description: string) {
  return list(Volume, description, { keys: ['name'] });
}

const SecretRef = object(
  {
    name: nameField('Name of the Secret.'),
    key: text('Key inside the Secret.', { minLength: 1, maxLength: 253 }),
    targetEnvName: optional(text('Name of the variable that gets the value. Default: the key.', ENV_NAME)),
  },
  'A key of a Secret that becomes an environment variable.',
);

export function secretsField(description: string) {
  return list(SecretRef, description);
}

function amounts(description: string) {
  return object(
    {
      cpu: optional(quantity('Processor time: 500m is half a core.')),
      memory: optional(quantity('Memory: 512Mi, 2Gi.')),
    },
    description,
  );
}

export function resourcesField(description: string) {
  return object(
    {
      limits: optional(amounts('Limits of the resources of the container.')),
      requests: optional(amounts('Resources that the scheduler reserves for the container.')),
    },
    description,
  );
}

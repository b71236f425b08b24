// Every field of EmbeddingServer.

import {
  anyObject,
  bool,
  choice,
  integer,
  list,
  object,
  optional,
  port,
  quantity,
  text,
  textMap,
} from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';
import { envField, resourcesField } from '../pods/container.ts';
import { secretKeyRef } from '../selectors.ts';

const ModelCache = object(
  {
    enabled: bool('False: models are downloaded anew whenever a pod starts.', true),
    storageClassName: optional(text("Storage class of the claims. Default: the cluster's own.", { minLength: 1 })),
    size: quantity('How much each pod can keep.', {
      default: '10Gi',
      validations: [
        {
          rule: "!isQuantity(self) || quantity(self).isGreaterThan(quantity('0'))",
          message: 'size must be more than 0',
        },
      ],
    }),
    accessMode: choice('How the claims can be mounted.', ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany'], {
      default: 'ReadWriteOnce',
    }),
  },
  'A volume claim for each pod, in which models outlive it. Without it, models are downloaded whenever a pod starts. It cannot be changed for a server that exists.',
);

function metadataOverrides(description: string) {
  return object(
    {
      annotations: optional(textMap('Annotations to add; they win over generated ones.')),
      labels: optional(textMap('Labels to add; they win over generated ones.')),
    },
    description,
  );
}

const StatefulSetOverrides = object(
  {
    annotations: optional(textMap('Annotations to add to the StatefulSet; they win over generated ones.')),
    labels: optional(textMap('Labels to add to the StatefulSet; they win over generated ones.')),
    podTemplateMetadataOverrides: optional(
      object(
        {
          annotations: optional(textMap('Annotations to add; generated ones win.')),
          labels: optional(textMap('Labels to add; generated ones win, because pods are found by them.')),
        },
        'Labels and annotations to add to the pods.',
      ),
    ),
  },
  'Changes to the StatefulSet.',
);

const ResourceOverrides = object(
  {
    statefulSet: optional(StatefulSetOverrides),
    service: optional(metadataOverrides('Labels and annotations to add to the Service.')),
    persistentVolumeClaim: optional(metadataOverrides('Labels and annotations to add to the claims of the cache.')),
  },
  'Changes to the generated objects, for what has no field of its own.',
);

export const EmbeddingServerSpec = object(
  {
    model: text('Model to serve, by its name on the model hub.', { default: 'BAAI/bge-small-en-v1.5', minLength: 1 }),
    hubTokenSecretRef: optional(secretKeyRef('Token for the model hub, for models that are not public.')),
    image: text('Container image: text-embeddings-inference, or one that takes its arguments.', {
      default: 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
      minLength: 1,
      pattern: '^\\S+$',
    }),
    imagePullPolicy: choice('When the image is pulled.', ['Always', 'Never', 'IfNotPresent'], {
      default: 'IfNotPresent',
    }),
    port: port('Port of the server, and of its Service.', { default: 8080 }),
    args: optional(list(text('An argument.'), 'Arguments of the server, after --model-id and --port.')),
    env: optional(envField('Environment of the server.')),
    resources: optional(resourcesField('Resources of the container.')),
    modelCache: optional(ModelCache),
    podTemplateSpec: optional(
      anyObject('Changes to the pod of the server, as a pod template. Its container is named embedding.'),
    ),
    resourceOverrides: optional(ResourceOverrides),
    replicas: integer('How many servers.', { default: 1, minimum: 1 }),
  },
  'The desired state of the embedding server.',
  { spellings: { hubTokenSecretRef: 'hfTokenSecretRef' } },
);

export const EmbeddingServerStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the server that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: optional(choice('How far the server is.', ['Pending', 'Downloading', 'Running', 'Failed', 'Terminating'])),
    message: optional(text('Why, for people.')),
    url: optional(text('Where clients inside the cluster reach the server.')),
    readyReplicas: optional(integer('How many servers are ready.', { minimum: 0 })),
    conditions: optional(ConditionsSchema),
  },
  'The embedding server as it was last seen.',
);

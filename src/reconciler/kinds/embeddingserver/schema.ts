// Defines every field of EmbeddingServer.

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
    enabled: bool('False: models are downloaded again whenever a pod starts.', true),
    storageClassName: optional(text("Storage class of the claims. Default: the cluster's own.", { minLength: 1 })),
    size: quantity('Size of the cache of each pod.', {
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
  'A volume claim for each pod, which keeps models when the pod is replaced. Without it, models are downloaded whenever a pod starts. It cannot be changed for an existing server.',
);

function metadataOverrides(description: string) {
  return object(
    {
      annotations: optional(textMap('Annotations to add; they take precedence over generated ones.')),
      labels: optional(textMap('Labels to add; they take precedence over generated ones.')),
    },
    description,
  );
}

const StatefulSetOverrides = object(
  {
    annotations: optional(textMap('Annotations to add to the StatefulSet; they take precedence over generated ones.')),
    labels: optional(textMap('Labels to add to the StatefulSet; they take precedence over generated ones.')),
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
  'Changes to the generated objects that have no fields of their own.',
);

export const EmbeddingServerSpec = object(
  {
    model: text('Model to serve, by its name on the model hub.', { default: 'BAAI/bge-small-en-v1.5', minLength: 1 }),
    hubTokenSecretRef: optional(secretKeyRef('Token for the model hub, for models that are not public.')),
    image: text('Container image: text-embeddings-inference, or one that accepts its arguments.', {
      default: 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
      minLength: 1,
      pattern: '^\\S+$',
    }),
    imagePullPolicy: choice('Policy for pulling the image.', ['Always', 'Never', 'IfNotPresent'], {
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
    replicas: integer('Number of servers.', { default: 1, minimum: 1 }),
  },
  'The desired state of the embedding server.',
  { spellings: { hubTokenSecretRef: 'hfTokenSecretRef' } },
);

export const EmbeddingServerStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the server that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: optional(choice('State of the server.', ['Pending', 'Downloading', 'Running', 'Failed', 'Terminating'])),
    message: optional(text('Reason, for people.')),
    url: optional(text('URL of the server for clients inside the cluster.')),
    readyReplicas: optional(integer('Number of ready servers.', { minimum: 0 })),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the embedding server.',
);

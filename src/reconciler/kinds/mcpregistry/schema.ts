// Defines every field of MCPRegistry.

import { anyObject, bool, choice, integer, list, object, optional, text, time } from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';
import { PullSecrets } from '../pods/pull-secrets.ts';
import { nameField, secretKeySelector } from '../selectors.ts';
import { Auth } from './schema-auth.ts';
import { Database } from './schema-database.ts';
import { Registry } from './schema-sources.ts';

const VolumePart = anyObject('Passed on as it is written.');

export const MCPRegistrySpec = object(
  {
    displayName: optional(text('Name for people.')),
    registries: optional(
      list(Registry, 'The served registries, one entry for each.', {
        keys: ['name'],
        minItems: 1,
        maxItems: 128,
        validations: [{ rule: 'size(self) > 0', message: 'at least one registry must be specified' }],
      }),
    ),
    configYAML: optional(
      text(
        "The configuration of release 1 of ToolHive's registry server, in place of registries, databaseConfig and authConfig. Each of its keys has its effect or is refused.",
        { minLength: 1, maxLength: 262_144 },
      ),
    ),
    volumes: optional(list(VolumePart, 'Further volumes of the pod: files that configYAML names. As in a pod.')),
    volumeMounts: optional(
      list(VolumePart, 'Paths of the volumes in the container of the registry service. As in a container.'),
    ),
    pgpassSecretRef: optional(
      secretKeySelector(
        'Secret with a password file (pgpass format) for both users of the database in configYAML. skep reads it too, to write the catalogue.',
      ),
    ),
    enforceServers: bool(
      'True: every image that MCPServers and EmbeddingServers of this namespace run, containers of podTemplateSpec included, must be in any MCPRegistry of the namespace. One registry with this setting is enough.',
      false,
    ),
    podTemplateSpec: optional(
      anyObject('Changes to the pod of the registry service, as a pod template. Its container is named registry-api.'),
    ),
    imagePullSecrets: optional(PullSecrets),
    databaseConfig: optional(Database),
    authConfig: optional(Auth),
  },
  'The desired state of the registry.',
  {
    neverEmpty: true,
    validations: [
      {
        rule: 'has(self.registries) != has(self.configYAML)',
        message: 'exactly one of registries and configYAML must be set',
      },
      {
        rule: '!has(self.configYAML) || !(has(self.databaseConfig) || has(self.authConfig))',
        message: 'configYAML has the settings of databaseConfig and authConfig: set them there',
      },
      {
        rule: '!has(self.pgpassSecretRef) || has(self.configYAML)',
        message: 'pgpassSecretRef needs configYAML; databaseConfig has fields for its passwords',
      },
    ],
  },
);

const SyncStatus = object(
  {
    phase: choice('State of the sync: of all sources, the state that most needs attention.', [
      'Syncing',
      'Complete',
      'Failed',
    ]),
    message: optional(text('Reason, for people.')),
    lastAttempt: optional(time('Time of the last attempt of a sync. Up to five minutes late if nothing else changed.')),
    attemptCount: optional(integer('Number of attempts since the last success.', { minimum: 0 })),
    lastSyncTime: optional(time('Time of the last sync of a source. It may be as late as lastAttempt.')),
    lastSyncHash: optional(text('Digest of the synced data, before filters.')),
    serverCount: optional(integer('Number of served servers.', { minimum: 0 })),
  },
  'State of the sync of the sources.',
);

const ApiStatus = object(
  {
    phase: choice('State of the registry service.', ['NotStarted', 'Deploying', 'Ready', 'Unhealthy', 'Error']),
    message: optional(text('Reason, for people.')),
    endpoint: optional(text('URL of the service for clients inside the cluster.')),
    readySince: optional(time('Time since which it is ready; absent while it is not.')),
  },
  'State of the registry service.',
);

const StorageRef = object(
  {
    type: choice('Place of the data.', ['configmap']),
    configMapRef: optional(
      object({ name: nameField('Name of the ConfigMap.') }, 'The ConfigMap, when type is configmap.', { atomic: true }),
    ),
  },
  'Place of the data in older versions. Never written: the data is in the database.',
);

export const MCPRegistryStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the registry that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: optional(choice('State of the registry.', ['Pending', 'Ready', 'Failed', 'Syncing', 'Terminating'])),
    message: optional(text('Reason, for people.')),
    syncStatus: optional(SyncStatus),
    apiStatus: optional(ApiStatus),
    lastAppliedFilterHash: optional(text('Digest of the filters that were last applied.')),
    storageRef: optional(StorageRef),
    lastManualSyncTrigger: optional(text('Value of the sync-trigger annotation that was last carried out.')),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the registry.',
);

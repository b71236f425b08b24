// Defines every field of MCPRegistry.

import { anyObject, bool, choice, integer, list, object, optional, text, time } from '#std/schema.ts';
import { ConditionsSchema } from '../conditions.ts';
import { PullSecrets } from '../pods/pull-secrets.ts';
import { nameField } from '../selectors.ts';
import { Auth } from './schema-auth.ts';
import { Database } from './schema-database.ts';
import { Registry } from './schema-sources.ts';

export const MCPRegistrySpec = object(
  {
    displayName: optional(text('Name for people.')),
    registries: list(Registry, 'The served registries, one entry for each.', {
      keys: ['name'],
      minItems: 1,
      maxItems: 128,
      validations: [{ rule: 'size(self) > 0', message: 'at least one registry must be specified' }],
    }),
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

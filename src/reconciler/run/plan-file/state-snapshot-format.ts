// Defines the content of a state snapshot: names, digests and facts about kinds, but no values of fields.

import {
  anyObject,
  bool,
  choice,
  integer,
  list,
  map,
  object,
  optional,
  type Static,
  text,
  textMap,
  time,
} from '#std/schema.ts';
import { CLUSTER, PLANNED_SOURCE, RESOURCE, SHA256, TOOL } from './format.ts';

/** Version of the format. Snapshots of any other version are refused. */
export const SNAPSHOT_VERSION = 1;

const OBJECT = object(
  {
    resource: RESOURCE,
    uid: optional(text('Its uid.')),
    generation: optional(integer('Its generation.', { format: 'int64', minimum: 0 })),
    state: choice(
      'same: as its source declares it at the commit. drifted: declared there, and different in the cluster. surplus: of this instance, and ' +
        'not declared there. foreign: not of this instance.',
      ['same', 'drifted', 'surplus', 'foreign'],
    ),
    drifted: optional(list(text('Path of a field.'), 'Fields that differ; never their values.')),
    owned: optional(text('Digest of the fields that skep owns, with their values.', SHA256)),
    applied: optional(bool('The instance has applied it.')),
    deleting: optional(bool('It is being deleted.')),
    labels: optional(textMap('Labels that an instance sets on its own objects.')),
    annotations: optional(textMap('Annotations that protect it.')),
    controllers: optional(
      list(object({ kind: text('Kind.'), name: text('Name.') }, 'An owner.'), 'Owners that the object names.'),
    ),
    keys: optional(list(text('A key.'), 'Keys of a ConfigMap or Secret; absent if they are not known.')),
  },
  'An object.',
);

export const STATE_SNAPSHOT = object(
  {
    format: choice('Type of this file.', ['skep-snapshot']),
    version: integer('Version of this format.', { minimum: SNAPSHOT_VERSION, maximum: SNAPSHOT_VERSION }),
    createdAt: time('Time at which the cluster was read (RFC 3339).'),
    tool: TOOL,
    instance: text('Name of the instance.', { minLength: 1 }),
    cluster: CLUSTER,
    settings: map(text('Digest.', SHA256), 'Digests of the settings that shape a plan, by their name in skep.yaml.'),
    sources: list(PLANNED_SOURCE, 'All sources, at the commits that the state was compared with.', { keys: ['name'] }),
    extent: object(
      { groupKinds: list(text('Kind.group.'), 'Kinds.'), namespaces: list(text('Name.'), 'Namespaces.') },
      'Kinds and namespaces that may have members of the set of the instance.',
    ),
    served: list(
      object(
        {
          apiVersion: text('Group and version.'),
          kind: text('Kind.'),
          plural: text('As in URLs.'),
          namespaced: bool('Whether its objects are in namespaces.'),
        },
        'A served kind.',
      ),
      'Kinds that the cluster serves.',
    ),
    definitions: list(anyObject('A CustomResourceDefinition.'), 'Definitions of foreign kinds that the sources use.'),
    namespaces: list(text('Name.'), 'Namespaces whose objects are all in this file, by name.'),
    images: map(list(text('An image.'), 'Images.'), 'Images in registries that enforce them, by namespace/name.'),
    objects: list(OBJECT, 'Objects of this instance, and other objects next to them.'),
    digest: text('SHA-256 of the canonical JSON of everything else in this file.', SHA256),
  },
  'The state of an instance, without any value: enough for a plan without access to the cluster.',
);

export type StateSnapshot = Static<typeof STATE_SNAPSHOT>;
export type KnownObject = Static<typeof OBJECT>;

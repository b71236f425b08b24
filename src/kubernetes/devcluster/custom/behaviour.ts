// Builds the behaviour of custom kinds from the structural schema of the CRD and the rules for all custom resources.

import { type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject, ObjectMeta } from '../../rules/object.ts';
import { rootType } from '../../rules/openapi.ts';
import { compileStructural, type Structural } from '../../rules/structural/structural.ts';
import type { Behaviour, ReadObject, Unreadable } from '../resources/behaviour.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { causesOf, fieldPath } from './causes.ts';
import { customDocument } from './document.ts';
import { readEmbedded } from './embedded.ts';
import { readMetadata } from './metadata.ts';

export function customBehaviour(type: ResourceType): Behaviour | undefined {
  const mergeType = rootType(customDocument([type]), type);
  if (type.custom === undefined || mergeType === undefined) return undefined;
  const { schema } = type.custom;
  const structural = compileStructural(schema);
  const { hasStatus } = type;
  return {
    mergeType,
    nameForm: 'subdomain',
    separatesStatus: hasStatus,
    updatesUnconditionally: false,
    createsOnUpdate: false,
    returnsDeleted: false,
    firstGeneration: 1,
    read: (value) => readCustom(schema, structural, value),
    prepareCreate: (object) => (hasStatus ? withStatus(object, undefined) : object),
    prepareUpdate: (next, old) => (hasStatus ? withStatus(next, old.status) : next),
    prepareStatusUpdate: (next, old) => ({
      ...withStatus(old, next.status),
      metadata: withManagedFieldsOf(old.metadata, next.metadata),
    }),
    movesGeneration: (next, old) => !jsonEquals(counted(next, hasStatus), counted(old, hasStatus)),
    validate: (next, old) => {
      const object = next as JsonObject;
      return causesOf({ schema, object }, structural.validate(object, old as JsonObject | undefined));
    },
  };
}

function readCustom(schema: JsonObject, structural: Structural, value: JsonObject): ReadObject | Unreadable {
  const read = readMetadata(value.metadata, 'metadata');
  if ('mismatch' in read) return read;
  const { value: metadata, unknown: unknownMeta } = read;
  const embedded = readEmbedded(schema, { ...value, metadata }, '');
  const given = embedded.value as JsonObject;
  const unknown = structural.unknownFields(given).map(({ pointer }) => fieldPath(pointer));
  const object = structural.withDefaults(structural.prune(given)) as KubeObject;
  const paths = [...unknownMeta, ...unknown, ...embedded.unknown];
  return { object, unknown: paths.map((path) => `unknown field "${path}"`) };
}

function withStatus(object: KubeObject, status: Json | ObjectMeta | undefined): KubeObject {
  const { status: _given, ...rest } = object;
  return (status === undefined ? rest : { ...rest, status }) as KubeObject;
}

function withManagedFieldsOf(metadata: ObjectMeta, source: ObjectMeta): ObjectMeta {
  const { managedFields: _old, ...rest } = metadata;
  return source.managedFields === undefined ? rest : { ...rest, managedFields: source.managedFields };
}

/**
 * Returns the fields whose changes increment the generation: all except apiVersion, metadata and, with a status
 * subresource, the status.
 */
function counted(object: KubeObject, hasStatus: boolean): JsonObject {
  const { metadata: _metadata, apiVersion: _version, ...rest } = object;
  const { status: _status, ...spec } = rest;
  return (hasStatus ? spec : rest) as JsonObject;
}

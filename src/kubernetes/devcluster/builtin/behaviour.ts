// Builds the behaviour of built-in kinds from common rules and the rules of each kind.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { type OpenApiDocument, rootType } from '../../rules/openapi.ts';
import { bundledSchema } from '../../rules/schemas/bundled.ts';
import { namedPatchType } from '../../rules/strategic.ts';
import type { Behaviour, ReadObject } from '../resources/behaviour.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { KindRules } from './kind.ts';
import { rulesOf } from './rules.ts';
import { decodeStruct } from './struct.ts';

/** Returns undefined if no schema of the kind is bundled. */
export function builtinBehaviour(type: ResourceType): Behaviour | undefined {
  const document = bundledSchema(apiVersionOf(type));
  const schemaName = document === undefined ? undefined : schemaNameOf(document.components.schemas, type);
  const mergeType = document === undefined ? undefined : rootType(document, type);
  if (document === undefined || schemaName === undefined || mergeType === undefined) return undefined;
  const rules = rulesOf(type);
  const patchType = namedPatchType(document, schemaName);
  return {
    ...lifeOf(rules, () => emptyStatusOf(document, schemaName)),
    mergeType,
    ...(patchType === undefined ? {} : { patchType }),
    read: (value) => {
      const decoded = decodeStruct(document, schemaName, value);
      if ('mismatch' in decoded) return decoded;
      return readResult(rules, decoded.value, decoded.unknown);
    },
  };
}

function readResult(rules: KindRules, value: JsonObject, unknown: readonly string[]): ReadObject {
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const object = { ...value, metadata } as KubeObject;
  return { object: rules.withDefaults(object), unknown: unknown.map((path) => `unknown field "${path}"`) };
}

type Life = Omit<Behaviour, 'mergeType' | 'patchType' | 'read'>;

function lifeOf(rules: KindRules, emptyStatus: () => Json): Life {
  return {
    nameForm: rules.nameForm,
    separatesStatus: rules.hasStatus,
    updatesUnconditionally: rules.updatesUnconditionally,
    createsOnUpdate: rules.createsOnUpdate,
    returnsDeleted: rules.returnsDeleted,
    firstGeneration: rules.generationCounts === undefined ? undefined : 1,
    prepareCreate: (object, neighbours) =>
      rules.prepareCreate(rules.hasStatus ? { ...object, status: emptyStatus() } : object, neighbours),
    prepareUpdate: (next, old, neighbours) =>
      rules.prepareUpdate(rules.hasStatus ? withStatusOf(next, old) : next, old, neighbours),
    prepareStatusUpdate: (next, old) => ({
      ...old,
      metadata: { ...next.metadata, ...ownedByMain(old) },
      ...statusMember(next),
    }),
    movesGeneration: (next, old) => rules.generationCounts?.(next, old) ?? false,
    validate: rules.validate,
  };
}

/** Returns the status of a new object. It has only the fields that the server always writes. */
function emptyStatusOf(document: OpenApiDocument, schemaName: string): Json {
  const decoded = decodeStruct(document, schemaName, {});
  return 'mismatch' in decoded ? {} : (decoded.value.status ?? {});
}

/** Returns the old object's labels, which a write to the status does not change. */
function ownedByMain(old: KubeObject): Partial<KubeObject['metadata']> {
  return old.metadata.labels === undefined ? {} : { labels: old.metadata.labels };
}

function withStatusOf(object: KubeObject, source: KubeObject): KubeObject {
  const { status: _status, ...rest } = object;
  return { ...rest, ...statusMember(source) } as KubeObject;
}

function statusMember(object: KubeObject): JsonObject {
  return object.status === undefined ? {} : { status: object.status as Json };
}

function schemaNameOf(schemas: OpenApiDocument['components']['schemas'], type: ResourceType): string | undefined {
  return Object.keys(schemas).find((name) =>
    schemas[name]?.['x-kubernetes-group-version-kind']?.some(
      ({ group, version, kind }) => group === type.group && version === type.version && kind === type.kind,
    ),
  );
}

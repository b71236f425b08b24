// Provides the served kinds: built-in kinds, and kinds of established CRDs.

import type { KubeObject } from '../../rules/object.ts';
import { bundledKinds } from '../../rules/schemas/bundled.ts';
import type { TypeTable } from '../api/context.ts';
import { builtinBehaviour } from '../builtin/behaviour.ts';
import { customBehaviour } from '../custom/behaviour.ts';
import { DEFINITIONS, typesOfDefinition } from '../custom/definition.ts';
import type { Store } from '../storage/store.ts';
import type { Behaviour } from './behaviour.ts';
import type { ResourceType, Verb } from './resource-type.ts';

const VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const SCALE_OF_WORKLOADS = {
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
};

/**
 * Returns the built-in kinds. Core Events and events.k8s.io Events share a collection, because they are the same
 * objects with different field names.
 */
export function builtinTypes(): readonly ResourceType[] {
  return bundledKinds().map((bundled) => {
    const [group, version] = splitVersion(bundled.apiVersion);
    const { kind, plural, singular, namespaced, shortNames, categories, subresources } = bundled;
    return {
      group,
      version,
      kind,
      listKind: `${kind}List`,
      plural,
      singular,
      shortNames,
      categories,
      namespaced,
      verbs: kind === 'Namespace' ? VERBS.filter((verb) => verb !== 'deletecollection') : VERBS,
      hasStatus: subresources.includes('status'),
      ...(subresources.includes('scale') ? { scale: SCALE_OF_WORKLOADS } : {}),
      collection: plural === 'events' ? '/events' : `${group}/${plural}`,
    };
  });
}

function splitVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/**
 * Opens a table that follows the CRDs of the store. A behaviour is built on first use, and dropped when its CRD
 * changes.
 */
export function openTypeTable(store: Store): TypeTable {
  const builtin = builtinTypes();
  const custom = new Map<string, readonly ResourceType[]>();
  const behaviours = new WeakMap<ResourceType, Behaviour>();
  let all: readonly ResourceType[] = [];
  const admit = (definition: KubeObject, gone: boolean): void => {
    const types = gone ? [] : typesOfDefinition(definition);
    if (types.length === 0) custom.delete(definition.metadata.name);
    else custom.set(definition.metadata.name, types);
    all = [...builtin, ...[...custom.keys()].sort().flatMap((name) => custom.get(name) ?? [])];
  };
  all = builtin;
  for (const definition of store.list(DEFINITIONS)) admit(definition, false);
  store.subscribe(({ key, object, type }) => {
    if (key.collection === DEFINITIONS) admit(object, type === 'DELETED');
  });
  return {
    all: () => all,
    find: (group, version, plural) =>
      all.find((type) => type.plural === plural && type.group === group && type.version === version),
    behaviourOf: (type) => {
      const known = behaviours.get(type);
      if (known !== undefined) return known;
      const made = type.custom === undefined ? builtinBehaviour(type) : customBehaviour(type);
      if (made === undefined) throw new Error(`no behaviour for ${type.kind}: its schema is missing`);
      behaviours.set(type, made);
      return made;
    },
  };
}

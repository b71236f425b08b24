// Builds the admission request for the creation of an object.

import type { Json } from '#std/json.ts';
import { dynamicValue } from '../cel/dynamic.ts';
import { refuseUnevaluable } from '../cel/unevaluable.ts';
import { groupOf, type KubeObject } from '../object.ts';

/** The resource under which an API server serves a kind. */
export interface ResourceType {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Other apiVersions of the kind. If convertible, they differ only in the apiVersion. */
  readonly others: readonly { readonly apiVersion: string; readonly convertible: boolean }[];
}

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export interface Request {
  readonly object: KubeObject;
  readonly type: ResourceType;
  readonly resource: Resource;
  /** The namespace of the object. For a Namespace, its own name. */
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, Json | undefined>>;
}

/** A namespace as the server stores it, or `unknown` if only the server knows it. */
export type NamespaceFacts =
  | { readonly type: 'known'; readonly object: KubeObject }
  | { readonly type: 'unknown'; readonly name: string }
  /** The object is cluster-scoped. */
  | { readonly type: 'none' };

export function requestOf(object: KubeObject, type: ResourceType): Request {
  const { name, namespace, labels } = object.metadata;
  const isNamespace = type.apiVersion === 'v1' && type.kind === 'Namespace';
  return {
    object,
    type,
    resource: resourceOf(type, type.apiVersion),
    namespace: isNamespace ? name : type.namespaced ? namespace : undefined,
    labels: labels ?? {},
  };
}

export function resourceOf({ plural }: ResourceType, apiVersion: string): Resource {
  return { group: groupOf(apiVersion), version: apiVersion.slice(apiVersion.lastIndexOf('/') + 1), plural };
}

export function namespaceLabels({ metadata }: KubeObject): Readonly<Record<string, string>> {
  return { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
}

/**
 * Returns the CEL variable `object`, in the apiVersion that the policy matches. Fields that the server sets on new
 * objects cannot be evaluated.
 */
export function objectValue(object: KubeObject, apiVersion: string): unknown {
  const { metadata, ...fields } = object;
  return {
    ...(dynamicValue(fields) as object),
    apiVersion,
    metadata: {
      ...(dynamicValue(metadata) as object),
      get uid() {
        return given('uid');
      },
      get creationTimestamp() {
        return given('creationTimestamp');
      },
      get generation() {
        return given('generation');
      },
      get managedFields() {
        return given('managedFields');
      },
    },
  };
}

function given(field: string): never {
  return refuseUnevaluable(`it reads metadata.${field}, which the API server sets`);
}

/** Returns the CEL variable `request`. `matched`: the resource that the policy matched. */
export function requestValue({ object, type, resource, namespace }: Request, matched: Resource): unknown {
  return {
    kind: { group: matched.group, version: matched.version, kind: type.kind },
    resource: { group: matched.group, version: matched.version, resource: matched.plural },
    requestKind: { group: resource.group, version: resource.version, kind: type.kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
    name: object.metadata.name,
    ...(namespace === undefined ? {} : { namespace }),
    operation: 'CREATE',
    dryRun: false,
    get userInfo() {
      return refuseUnevaluable('it reads the user of the request');
    },
    get options() {
      return refuseUnevaluable('it reads the options of the request');
    },
  };
}

const namespaceValues = new WeakMap<NamespaceFacts, unknown>();

export function namespaceValue(facts: NamespaceFacts): unknown {
  if (facts.type === 'none') return null;
  const value =
    namespaceValues.get(facts) ?? (facts.type === 'known' ? knownNamespace(facts.object) : hidden(facts.name));
  namespaceValues.set(facts, value);
  return value;
}

function hidden(name: string): unknown {
  return {
    get metadata() {
      return refuseUnevaluable(unknownNamespace(name));
    },
    get spec() {
      return refuseUnevaluable(unknownNamespace(name));
    },
    get status() {
      return refuseUnevaluable(unknownNamespace(name));
    },
  };
}

function knownNamespace(object: KubeObject): unknown {
  const { name, annotations } = object.metadata;
  return {
    metadata: {
      name,
      labels: namespaceLabels(object),
      ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
      get creationTimestamp() {
        return given('creationTimestamp');
      },
      get resourceVersion() {
        return given('resourceVersion');
      },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

export function unknownNamespace(name: string): string {
  return `the labels of namespace ${name} are not known here: its Namespace is not declared`;
}

const paramValues = new WeakMap<KubeObject, unknown>();

export function paramsValue(param: KubeObject | undefined): unknown {
  if (param === undefined) return null;
  const value = paramValues.get(param) ?? dynamicValue(param);
  paramValues.set(param, value);
  return value;
}

// The request that would bring an object into a cluster, as admission sees it: its creation.

import type { Json } from '#std/json.ts';
import { dynamicValue } from '../cel/dynamic.ts';
import { refuseUnevaluable } from '../cel/unevaluable.ts';
import { groupOf, type KubeObject } from '../object.ts';

/** What an API server serves a kind as. */
export interface ResourceType {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Other apiVersions of the same kind. Convertible: nothing but the apiVersion changes. */
  readonly others: readonly { readonly apiVersion: string; readonly convertible: boolean }[];
}

/** Where the request goes. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export interface Request {
  readonly object: KubeObject;
  readonly type: ResourceType;
  readonly resource: Resource;
  /** A Namespace is in the namespace that it is. */
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, Json | undefined>>;
}

/** A namespace as the server keeps it; `unknown` where only the server knows it. */
export type NamespaceFacts =
  | { readonly type: 'known'; readonly object: KubeObject }
  | { readonly type: 'unknown'; readonly name: string }
  /** The object has none. */
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

/** Labels of a namespace as selectors see them. */
export function namespaceLabels({ metadata }: KubeObject): Readonly<Record<string, string>> {
  return { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
}

/** The variable `object`, in the version that the policy asks for. What the server gives to new objects is not known. */
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
  return refuseUnevaluable(`it asks for metadata.${field}, which the API server gives`);
}

/** The variable `request`. `matched`: the resource that the policy matched. */
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
      return refuseUnevaluable('it asks who makes the request');
    },
    get options() {
      return refuseUnevaluable('it asks for the options of the request');
    },
  };
}

const namespaceValues = new WeakMap<NamespaceFacts, unknown>();

/** The variable `namespaceObject`. */
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

/** The variable `params`. */
export function paramsValue(param: KubeObject | undefined): unknown {
  if (param === undefined) return null;
  const value = paramValues.get(param) ?? dynamicValue(param);
  paramValues.set(param, value);
  return value;
}

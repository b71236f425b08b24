// The request that would bring an object into a cluster, as admission sees it: its creation. Knows nothing about policies.

import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import { dynamicValue, lazyField } from '../cel/dynamic.ts';
import { unevaluable } from '../cel/unevaluable.ts';
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

/** The variable `object`, in the version that the policy asks for. */
export function objectValue(object: KubeObject, apiVersion: string): unknown {
  const value = dynamicValue({ ...object, apiVersion });
  const metadata = isPlain(value) && isPlain(value.metadata) ? value.metadata : {};
  for (const name of ['uid', 'creationTimestamp', 'generation', 'managedFields']) {
    lazyField(metadata, name, () => unevaluable(`it asks for metadata.${name}, which the API server gives`));
  }
  return value;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The variable `request`. `resource`: the one that the policy matched. */
export function requestValue({ object, type, resource, namespace }: Request, matched: Resource): unknown {
  const value: JsonObject = {
    kind: { group: matched.group, version: matched.version, kind: type.kind },
    resource: { group: matched.group, version: matched.version, resource: matched.plural },
    requestKind: { group: resource.group, version: resource.version, kind: type.kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
    name: object.metadata.name,
    ...(namespace === undefined ? {} : { namespace }),
    operation: 'CREATE',
    dryRun: false,
  };
  lazyField(value, 'userInfo', () => unevaluable('it asks who makes the request'));
  lazyField(value, 'options', () => unevaluable('it asks for the options of the request'));
  return value;
}

/** The variable `namespaceObject`. */
export function namespaceValue(facts: NamespaceFacts): unknown {
  switch (facts.type) {
    case 'none':
      return null;
    case 'unknown': {
      const value = {};
      for (const name of ['metadata', 'spec', 'status']) {
        lazyField(value, name, () => unevaluable(unknownNamespace(facts.name)));
      }
      return value;
    }
    case 'known': {
      const { name, annotations } = facts.object.metadata;
      const metadata = {
        name,
        labels: namespaceLabels(facts.object),
        ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
      };
      for (const field of ['creationTimestamp', 'resourceVersion']) {
        lazyField(metadata, field, () => unevaluable(`it asks for ${field} of the namespace`));
      }
      return { metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    }
  }
}

export function unknownNamespace(name: string): string {
  return `the labels of namespace ${name} are not known here: its Namespace is not declared`;
}

/** The variable `params`. */
export function paramsValue(param: KubeObject | undefined): unknown {
  return param === undefined || !isObject(param) ? null : dynamicValue(param);
}

// Determines the rights with which each change is made: the rights of the service account that the object's source
// names.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, SOURCE } from '../labels.ts';

/** Returns the user whose rights apply to requests about an object; undefined for the reconciler itself. */
export type AccountOf = (object: KubeObject) => string | undefined;

/** Decides by the source label of the object. A child has the label of its owner. */
export function accountsOf(sources: readonly { readonly name: string; readonly account?: string }[]): AccountOf {
  const accounts = new Map(sources.map(({ name, account }) => [labelValue(name), account]));
  return (object) => accounts.get(labelOf(object, SOURCE) ?? '');
}

/**
 * Returns the user of `name`, in the given namespace, or of `namespace/name` (Kubernetes, "Service account usernames").
 */
export function userOf(serviceAccount: string, namespace: string): string {
  const [first = '', second] = serviceAccount.split('/');
  return `system:serviceaccount:${second === undefined ? namespace : first}:${second ?? first}`;
}

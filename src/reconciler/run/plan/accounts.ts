// Determines the user of each change: the service account of the object's source.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, SOURCE } from '../labels.ts';

/** Returns the user of the requests about an object; undefined if the requests use the account of the reconciler. */
export type AccountOf = (object: KubeObject) => string | undefined;

/** Returns a function that finds the source by the source label. A child has the same label as its owner. */
export function accountsOf(sources: readonly { readonly name: string; readonly account?: string }[]): AccountOf {
  const accounts = new Map(sources.map(({ name, account }) => [labelValue(name), account]));
  return (object) => accounts.get(labelOf(object, SOURCE) ?? '');
}

/**
 * Returns the user name of a service account. `serviceAccount` is `namespace/name`, or a name in the given namespace
 * (Kubernetes, "Service account usernames").
 */
export function userOf(serviceAccount: string, namespace: string): string {
  const [first = '', second] = serviceAccount.split('/');
  return `system:serviceaccount:${second === undefined ? namespace : first}:${second ?? first}`;
}

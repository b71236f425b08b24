// Determines the rights with which each change is made: those of the service account that its source names.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, SOURCE } from '../labels.ts';

/** Returns the user whose rights requests about an object have; undefined for the reconciler itself. */
export type AccountOf = (object: KubeObject) => string | undefined;

/** Decides by the source label, which is on an object or copied from the owner of a child. */
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

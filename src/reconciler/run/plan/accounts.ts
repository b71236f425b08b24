// Whose rights each change is made with: those of the service account that its source names.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { labelOf, labelValue, SOURCE } from '../labels.ts';

/** The user that requests about an object are made as; undefined: the reconciler itself. */
export type AccountOf = (object: KubeObject) => string | undefined;

/** By what an object, or the owner of a child, says where it comes from. */
export function accountsOf(sources: readonly { readonly name: string; readonly account?: string }[]): AccountOf {
  const accounts = new Map(sources.map(({ name, account }) => [labelValue(name), account]));
  return (object) => accounts.get(labelOf(object, SOURCE) ?? '');
}

/** `name`, in the namespace given, or `namespace/name` (Kubernetes, "Service account usernames"). */
export function userOf(serviceAccount: string, namespace: string): string {
  const [first = '', second] = serviceAccount.split('/');
  return `system:serviceaccount:${second === undefined ? namespace : first}:${second ?? first}`;
}

// Finds the parameters that a binding passes to its policy. Source: Kubernetes 1.36, ValidatingAdmissionPolicy,
// "Parameter resources".

import { selects } from '../label-selector.ts';
import type { KubeObject } from '../object.ts';
import type { ParamRef, Policy } from './policy.ts';

/** The known objects of a parameter kind. */
export interface ParamSource {
  readonly namespaced: boolean;
  readonly objects: readonly KubeObject[];
  /** False if a cluster that was not read may have further objects. */
  readonly complete: boolean;
}

export type Params =
  /**
   * Objects for which the policy is evaluated. If the list is empty, the policy is not evaluated. An undefined entry
   * stands for the CEL value null, as in a policy without parameters.
   */
  | { readonly type: 'found'; readonly objects: readonly (KubeObject | undefined)[] }
  /** The policy's failurePolicy decides the result. */
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'unknown'; readonly reason: string };

export function paramsFor(
  { paramKind }: Policy,
  paramRef: ParamRef | undefined,
  namespace: string | undefined,
  sourceOf: (apiVersion: string, kind: string) => ParamSource | undefined,
): Params {
  if (paramKind === undefined || paramRef === undefined) return { type: 'found', objects: [undefined] };
  const { apiVersion, kind } = paramKind;
  const source = sourceOf(apiVersion, kind);
  if (source === undefined) return { type: 'unknown', reason: `its parameters are ${kind} of ${apiVersion}` };
  if (!source.namespaced && paramRef.namespace !== undefined) {
    return { type: 'error', message: 'paramRef.namespace must not be given for a cluster-scoped paramKind' };
  }
  const place = source.namespaced ? (paramRef.namespace ?? namespace) : undefined;
  if (source.namespaced && place === undefined) {
    const message = 'a namespaced paramRef cannot be used in a binding that matches cluster-scoped resources';
    return { type: 'error', message };
  }
  const objects = source.objects.filter(
    ({ metadata }) => (!source.namespaced || metadata.namespace === place) && isMeant(paramRef, metadata),
  );
  if (objects.length > 0) return { type: 'found', objects };
  if (!source.complete) {
    const name = paramRef.name === undefined ? `any ${kind} that it selects` : `${kind} ${paramRef.name}`;
    return {
      type: 'unknown',
      reason: `${name}${place === undefined ? '' : ` of namespace ${place}`} is not known here`,
    };
  }
  if (paramRef.notFound === 'Allow') return { type: 'found', objects: [] };
  return { type: 'error', message: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
}

function isMeant({ name, selector }: ParamRef, metadata: KubeObject['metadata']): boolean {
  if (name !== undefined) return metadata.name === name;
  return selects(selector ?? {}, metadata.labels ?? {});
}

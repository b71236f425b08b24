// Declares the properties of a write that ownership depends on: manager, endpoint and type.

import type { MergeType } from '../../openapi.ts';
import { fieldElement } from '../element.ts';
import { type FieldSet, setOf } from '../fieldset.ts';
import type { ManagerName } from './managers.ts';

export interface WriteContext {
  readonly type: MergeType;
  /** The field manager. An empty string is recorded as `unknown`. */
  readonly manager: string;
  /** apiVersion of the request, recorded in the manager's entry. */
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339, whole seconds, UTC: `2026-01-01T00:00:00Z`. */
  readonly time: string;
  /**
   * Paths (as keys from the root) that this endpoint never writes. No manager owns these paths through this endpoint.
   * Needed only for custom resources without a status subresource (`[]`).
   */
  readonly reset?: readonly (readonly string[])[];
}

export function managerName(context: WriteContext, operation: ManagerName['operation']): ManagerName {
  const { manager, apiVersion, subresource } = context;
  return { manager: manager || 'unknown', operation, apiVersion, ...(subresource ? { subresource } : {}) };
}

/** Fields that the API server resets on `/status`, in addition to `spec`. */
const STATUS_RESETS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'io.k8s.api.apps.v1.Deployment': [['metadata', 'labels']],
  'io.k8s.api.core.v1.Pod': [
    ['metadata', 'deletionTimestamp'],
    ['metadata', 'ownerReferences'],
  ],
};

export function resetSet(context: WriteContext): FieldSet {
  return setOf(resetPaths(context).map((path) => path.map(fieldElement)));
}

function resetPaths({ reset, subresource, type }: WriteContext): readonly (readonly string[])[] {
  if (reset !== undefined) return reset;
  if (subresource === undefined || subresource === '') return [['status']];
  if (subresource !== 'status') return [];
  return [['spec'], ...(type.storage === 'struct' ? (STATUS_RESETS[type.name ?? ''] ?? []) : [['metadata']])];
}

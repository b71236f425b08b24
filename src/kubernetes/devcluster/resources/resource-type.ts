// A kind as the API serves it: where it is found, what can be done with it.

import type { JsonObject } from '#std/json.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Where a custom kind keeps what its scale subresource shows: JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

/** One served version of a custom kind, as its CRD says. */
interface CustomVersion {
  /** Name of the CRD. */
  readonly definition: string;
  /** `openAPIV3Schema`. */
  readonly schema: JsonObject;
  readonly printerColumns: readonly JsonObject[];
  readonly selectableFields: readonly string[];
  /** Said to every client of this version; absent: it is not deprecated. */
  readonly deprecation?: string;
}

export interface ResourceType {
  /** The empty string for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly hasStatus: boolean;
  /** Absent: no scale subresource. */
  readonly scale?: ScalePaths;
  /** `group/plural`: where objects of all versions of the kind are stored. */
  readonly collection: string;
  /** Present for kinds that a CRD defines. */
  readonly custom?: CustomVersion;
}

export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

// Defines the type of a kind as the API serves it, with its names and verbs.

import type { JsonObject } from '#std/json.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Locations of the scale subresource's values, as JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

interface CustomVersion {
  /** Name of the CRD. */
  readonly definition: string;
  readonly schema: JsonObject;
  readonly printerColumns: readonly JsonObject[];
  readonly selectableFields: readonly string[];
  /** Warning for clients of this version. Absent if the version is not deprecated. */
  readonly deprecation?: string;
}

export interface ResourceType {
  /** Empty for the core group. */
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
  /** Absent if the kind has no scale subresource. */
  readonly scale?: ScalePaths;
  /** `group/plural`. All versions of the kind share this collection. */
  readonly collection: string;
  /** Absent for built-in kinds. */
  readonly custom?: CustomVersion;
}

export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

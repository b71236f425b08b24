// Defines the type of a kind as the API serves it: its names and its verbs.

import type { JsonObject } from '#std/json.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The places of the values of the scale subresource, as JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

/** A served version of a custom kind, as in its CRD. */
interface CustomVersion {
  /** Name of the CRD. */
  readonly definition: string;
  /** The `openAPIV3Schema`. */
  readonly schema: JsonObject;
  readonly printerColumns: readonly JsonObject[];
  readonly selectableFields: readonly string[];
  /** Warning to every client of this version. Absent if the version is not deprecated. */
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
  /** Absent if the kind has no scale subresource. */
  readonly scale?: ScalePaths;
  /** `group/plural`: the collection of the objects of all versions of the kind. */
  readonly collection: string;
  /** Present for kinds that a CRD defines. */
  readonly custom?: CustomVersion;
}

export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

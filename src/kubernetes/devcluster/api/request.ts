// One request for a resource, routed and read, and what is answered.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType, Verb } from '../resources/resource-type.ts';

export interface ApiRequest {
  readonly verb: Verb;
  readonly type: ResourceType;
  /** Absent for cluster-scoped kinds and for all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
}

export interface ObjectAnswer {
  readonly shape: 'object';
  readonly code: number;
  readonly object: KubeObject | JsonObject;
  readonly warnings?: readonly string[];
}

/** A page of a collection, not yet rendered: tables and partial metadata are made of it. */
export interface ListAnswer {
  readonly shape: 'list';
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type ApiAnswer = ObjectAnswer | ListAnswer;

/** Options that every write takes (`?dryRun=All&fieldManager=...&fieldValidation=...`). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly manager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
}

// Defines a parsed request for a resource and its response.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType, Verb } from '../resources/resource-type.ts';

export interface ApiRequest {
  readonly verb: Verb;
  readonly type: ResourceType;
  /** Absent for cluster-scoped kinds and for requests across all namespaces. */
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

/** A page of a collection. Rendered as a list, a table or partial metadata. */
export interface ListAnswer {
  readonly shape: 'list';
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type ApiAnswer = ObjectAnswer | ListAnswer;

/** Query options of all writes (`?dryRun=All&fieldManager=...&fieldValidation=...`). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly manager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
}

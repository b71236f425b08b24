// What a kind adds to the common life of objects: its types, defaults and rules. Built-in kinds and custom ones each have an
// implementation.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { MergeType } from '../../rules/openapi.ts';
import type { PatchType } from '../../rules/strategic.ts';
import type { Cause } from '../api/status.ts';

import type { NameForm } from '../api/validate-metadata.ts';

export interface ReadObject {
  readonly object: KubeObject;
  /** `unknown field "spec.foo"`, one per field that the kind does not have; the object lacks them already. */
  readonly unknown: readonly string[];
}

/** What the server's decoder would say about values of the wrong type. */
export interface Unreadable {
  readonly mismatch: string;
}

/** The objects of a collection (`group/plural`), for what is given out once in a cluster. */
export type Neighbours = (collection: string) => readonly KubeObject[];

export interface Behaviour {
  readonly mergeType: MergeType;
  /** The rules of strategic merge patches; absent for custom kinds. */
  readonly patchType?: PatchType;
  /** A replace without resourceVersion is taken. */
  readonly updatesUnconditionally: boolean;
  /** A replace of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** Deletion answers the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameForm: NameForm;
  /** `status` is written through its subresource only. */
  readonly separatesStatus: boolean;
  /** Checks types, drops what the kind does not have, fills in defaults. */
  read(value: JsonObject): ReadObject | Unreadable;
  /** What a create may not say is taken away, what only the server says is added. */
  prepareCreate(object: KubeObject, neighbours: Neighbours): KubeObject;
  /** What a replace may not change is taken from `old`. */
  prepareUpdate(next: KubeObject, old: KubeObject, neighbours: Neighbours): KubeObject;
  /** A write of the status subresource: everything but the status is taken from `old`. */
  prepareStatusUpdate(next: KubeObject, old: KubeObject): KubeObject;
  /** True where the difference is one that `metadata.generation` counts. */
  movesGeneration(next: KubeObject, old: KubeObject): boolean;
  /** Generation of a new object; undefined for kinds that do not count. */
  readonly firstGeneration: number | undefined;
  /** What is wrong; `old` only on updates. `subresource` where one was written. */
  validate(next: KubeObject, old: KubeObject | undefined, subresource: string | undefined): readonly Cause[];
}

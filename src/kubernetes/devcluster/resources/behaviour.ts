// Defines the interface for the behaviour of a kind: its types, defaults and special rules. Built-in kinds and custom
// kinds implement this interface.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { MergeType } from '../../rules/openapi.ts';
import type { PatchType } from '../../rules/strategic.ts';
import type { Cause } from '../api/status.ts';

import type { NameForm } from '../api/validate-metadata.ts';

export interface ReadObject {
  readonly object: KubeObject;
  /** Messages such as `unknown field "spec.foo"`, one per unknown field. The fields were removed from the object. */
  readonly unknown: readonly string[];
}

/** The server decoder's message about a value of the wrong type. */
export interface Unreadable {
  readonly mismatch: string;
}

/** Returns the objects of a collection (`group/plural`), to allocate values that are unique in the cluster. */
export type Neighbours = (collection: string) => readonly KubeObject[];

export interface Behaviour {
  readonly mergeType: MergeType;
  /** The merge rules of strategic merge patches. Absent for custom kinds. */
  readonly patchType?: PatchType;
  /** True if a replace without resourceVersion is accepted. */
  readonly updatesUnconditionally: boolean;
  /** True if a replace creates a missing object. */
  readonly createsOnUpdate: boolean;
  /** True if the response to a deletion is the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameForm: NameForm;
  /** True if `status` can be written only through its subresource. */
  readonly separatesStatus: boolean;
  /** Checks types, drops unknown fields and sets defaults. */
  read(value: JsonObject): ReadObject | Unreadable;
  /** Removes fields that clients must not set in a create, and adds fields that the server sets. */
  prepareCreate(object: KubeObject, neighbours: Neighbours): KubeObject;
  /** Copies from `old` the fields that a replace must not change. */
  prepareUpdate(next: KubeObject, old: KubeObject, neighbours: Neighbours): KubeObject;
  /** Copies from `old` all fields except the status, for a write to the status subresource. */
  prepareStatusUpdate(next: KubeObject, old: KubeObject): KubeObject;
  /** True if the change increments `metadata.generation`. */
  movesGeneration(next: KubeObject, old: KubeObject): boolean;
  /** Generation of a new object. undefined for kinds without generations. */
  readonly firstGeneration: number | undefined;
  /** Returns the faults. `old` is undefined for creates. `subresource` is undefined for writes to the main resource. */
  validate(next: KubeObject, old: KubeObject | undefined, subresource: string | undefined): readonly Cause[];
}

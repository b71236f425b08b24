// Defines the interface of a kind: its types, defaults and rules, in addition to the rules that all objects share.
// There is one implementation for built-in kinds and one for custom kinds.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { MergeType } from '../../rules/openapi.ts';
import type { PatchType } from '../../rules/strategic.ts';
import type { Cause } from '../api/status.ts';

import type { NameForm } from '../api/validate-metadata.ts';

export interface ReadObject {
  readonly object: KubeObject;
  /** `unknown field "spec.foo"`, one per field that the kind does not have. The object no longer has them. */
  readonly unknown: readonly string[];
}

/** The message of the server's decoder about values of the wrong type. */
export interface Unreadable {
  readonly mismatch: string;
}

/** Returns the objects of a collection (`group/plural`), for values that are unique in a cluster. */
export type Neighbours = (collection: string) => readonly KubeObject[];

export interface Behaviour {
  readonly mergeType: MergeType;
  /** The rules of strategic merge patches. Absent for custom kinds. */
  readonly patchType?: PatchType;
  /** Whether a replace without resourceVersion is accepted. */
  readonly updatesUnconditionally: boolean;
  /** Whether a replace of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** Whether a deletion returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameForm: NameForm;
  /** Whether `status` is written through its subresource only. */
  readonly separatesStatus: boolean;
  /** Checks types, drops unknown fields and fills in defaults. */
  read(value: JsonObject): ReadObject | Unreadable;
  /** Removes the fields that a create must not set, and adds those that only the server sets. */
  prepareCreate(object: KubeObject, neighbours: Neighbours): KubeObject;
  /** Takes the fields that a replace must not change from `old`. */
  prepareUpdate(next: KubeObject, old: KubeObject, neighbours: Neighbours): KubeObject;
  /** Prepares a write of the status subresource: takes all fields except the status from `old`. */
  prepareStatusUpdate(next: KubeObject, old: KubeObject): KubeObject;
  /** Whether the difference increments `metadata.generation`. */
  movesGeneration(next: KubeObject, old: KubeObject): boolean;
  /** Generation of a new object. Undefined for kinds without generations. */
  readonly firstGeneration: number | undefined;
  /** Returns the faults. `old` is set for updates only, `subresource` if a subresource was written. */
  validate(next: KubeObject, old: KubeObject | undefined, subresource: string | undefined): readonly Cause[];
}

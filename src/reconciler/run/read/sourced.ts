// Defines a resource together with the source that declares it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { LoadedResource } from './load.ts';

export interface Sourced extends LoadedResource {
  readonly source: string;
  /**
   * Stored form of the object, if another manager keeps one of its fields. For our kinds, `defaulted` has the stored
   * form instead.
   */
  readonly kept?: KubeObject;
  /** Set if a person applied the resource by hand. Only its children and its status are then ours. */
  readonly byHand?: true;
}

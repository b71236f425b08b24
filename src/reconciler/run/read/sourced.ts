// Defines a resource together with the source that declares it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { LoadedResource } from './load.ts';

export interface Sourced extends LoadedResource {
  readonly source: string;
  /** Object as it will exist if another manager keeps a field of it; for our kinds, `defaulted` has that form. */
  readonly kept?: KubeObject;
  /** Set if a person applied the resource by hand: only its children and its status are ours. */
  readonly byHand?: true;
}

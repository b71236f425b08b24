// A resource with the source that declares it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { LoadedResource } from './load.ts';

export interface Sourced extends LoadedResource {
  readonly source: string;
  /** As it will live, where someone else keeps a field of it; of our kinds `defaulted` is that. */
  readonly kept?: KubeObject;
  /** Someone applied it by hand: only its children and its status are ours. */
  readonly byHand?: true;
}

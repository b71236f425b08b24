// Computes the owners after a write that is not an apply: the writer owns the fields that it changed, other managers
// lose them.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../object.ts';
import { changesBetween } from '../changes.ts';
import { union } from '../fieldset.ts';
import { withoutIdentity } from '../owned.ts';
import { managerName, resetSet, type WriteContext } from './context.ts';
import { capUpdaters, keyOfManager, type Manager, type Managers } from './managers.ts';
import { reconcileSet } from './reconcile-set.ts';
import { takeAway, withoutReset } from './takeover.ts';

/** Both objects must have no managedFields. For a create, `before` is `zeroObject`. */
export function updateManagers(
  managers: Managers,
  before: KubeObject,
  after: KubeObject,
  context: WriteContext,
): Managers {
  const { type, time } = context;
  const all = changesBetween(before as JsonObject, after as JsonObject, type, true);
  const changes = withoutReset(all, resetSet(context));
  const left = new Map(takeAway(reconcileManagers(managers, context), changes, ''));
  const written = withoutIdentity(union(changes.modified, changes.added));
  if (written.size > 0) {
    const name = managerName(context, 'Update');
    const key = keyOfManager(name);
    const previous = left.get(key);
    // The server records no time for a write through `scale`.
    const noted = context.subresource === 'scale' ? {} : { time };
    left.set(key, { ...name, ...noted, set: previous === undefined ? written : union(written, previous.set) });
  }
  return capUpdaters(left);
}

export function reconcileManagers(managers: Managers, { type }: WriteContext): Managers {
  return new Map(
    [...managers].map(([key, manager]): [string, Manager] => [
      key,
      { ...manager, set: reconcileSet(manager.set, type) },
    ]),
  );
}

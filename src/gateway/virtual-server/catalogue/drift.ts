// Compares an item of a member's list with the reviewed definition in the member's tools lock.

import type { Lock } from '../../gate/tools-lock/lock.ts';
import type { ListItem } from '../../wire/lists.ts';
import type { ItemNotice } from './item-notices.ts';
import type { ListName } from './list-names.ts';

const NAME_SHOWN = 200;

/** Compares the item as the member sent it. Returns undefined if the item equals the reviewed definition. */
export function driftOf(
  lock: Lock,
  { list, name }: { readonly list: ListName; readonly name: string },
  page: Buffer,
  { span }: ListItem,
): ItemNotice | undefined {
  const agreement = lock.compare(list, name, page.subarray(span.start, span.end));
  if (agreement === 'agrees') return undefined;
  const what = lock.mode === 'enforce' ? 'held-back' : 'drifted';
  return { list, name: name.slice(0, NAME_SHOWN), what, why: DRIFTS[agreement] };
}

const DRIFTS = {
  new: 'its name is not in the ToolLock',
  differs: 'its definition differs from the ToolLock',
  unreadable: 'two readers could read its definition differently',
} as const;

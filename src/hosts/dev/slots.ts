// Remembers which registry of `skep dev` has which place among the ports, so that its URL stays the same from start to start.

import { readFile } from 'node:fs/promises';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { parseJson } from '#std/json.ts';

/** Registries (`namespace/name`) by place; the first one is at the port of `skep dev`. */
export type Slots = readonly string[];

/** New registries get the places of registries that are gone, the first places first; all others keep theirs. */
export function assignSlots(before: Slots, registries: readonly string[]): Slots {
  const slots = [...before];
  for (const registry of registries.filter((each) => !before.includes(each)).sort()) {
    const free = slots.findIndex((owner) => !registries.includes(owner));
    if (free < 0) slots.push(registry);
    else slots[free] = registry;
  }
  return slots;
}

/** Empty if nothing was written, or something that is not a list of registries. */
export async function readSlots(file: string): Promise<Slots> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export async function writeSlots(file: string, slots: Slots): Promise<void> {
  await writePrivately(file, `${JSON.stringify(slots)}\n`);
}

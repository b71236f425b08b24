// Assigns a fixed port offset (slot) to each registry of `skep dev`, so that its URL is the same at every start.

import { readFile } from 'node:fs/promises';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { parseJson } from '#std/json.ts';

/** Names of registries (`namespace/name`) by slot. The registry in slot 0 has the main port. */
export type Slots = readonly string[];

/** Returns the new slots. Registries keep their slots. New registries first get the slots of deleted registries. */
export function assignSlots(before: Slots, registries: readonly string[]): Slots {
  const slots = [...before];
  for (const registry of registries.filter((each) => !before.includes(each)).sort()) {
    const free = slots.findIndex((owner) => !registries.includes(owner));
    if (free < 0) slots.push(registry);
    else slots[free] = registry;
  }
  return slots;
}

/** Returns an empty list if the file is missing or contains no list of names. */
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

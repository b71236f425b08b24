// Remembers the place of each registry of `skep dev` among the ports, so that its URL is the same at every start.

import { readFile } from 'node:fs/promises';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { parseJson } from '#std/json.ts';

/** Registries (`namespace/name`) by place; the registry at the first place has the port of `skep dev`. */
export type Slots = readonly string[];

/** Gives new registries the first places of deleted registries. Registries with a place keep it. */
export function assignSlots(before: Slots, registries: readonly string[]): Slots {
  const slots = [...before];
  for (const registry of registries.filter((each) => !before.includes(each)).sort()) {
    const free = slots.findIndex((owner) => !registries.includes(owner));
    if (free < 0) slots.push(registry);
    else slots[free] = registry;
  }
  return slots;
}

/** Returns an empty list if the file is missing or does not contain a list of registries. */
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

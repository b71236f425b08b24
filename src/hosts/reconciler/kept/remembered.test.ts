import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRemembered } from './remembered.ts';

test('the oldest entry is dropped, in memory and in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skep-remembered-'));
  try {
    const remembered = openRemembered(join(folder, 'state.json'), 2);
    for (const key of ['a', 'b', 'c', 'b']) remembered.set(key, `of ${key}`);
    remembered.set('d', 'of d');
    const kept = [undefined, 'of b', undefined, 'of d'];
    expect(['a', 'b', 'c', 'd'].map((key) => remembered.get(key))).toEqual(kept);
    await remembered.save();
    const again = openRemembered(join(folder, 'state.json'), 2);
    expect(['a', 'b', 'c', 'd'].map((key) => again.get(key))).toEqual(kept);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// The same stories through each mode of the proxy as without it: what the clients get must be the same. Real clients, real
// processes, loopback only.

import { beforeAll, describe, expect, it } from 'vitest';
import { fields, isFields } from '../conformance/fixture/json.ts';
import { MODES, type Mode, STORY_MODES } from '../harness/mcp-modes.ts';
import { clientsOf, runDirect, runMode, type Transcripts } from './client-kinds.ts';
import { EXCEPTIONS } from './exceptions.ts';
import { STORIES } from './stories.ts';
import type { ClientKind } from './story-client.ts';

const NAMES = STORIES.map(({ name }) => name);
const PAIRS = [...MODES, ...STORY_MODES]
  .filter(({ proxy }) => proxy !== undefined)
  .flatMap((mode) => clientsOf(mode).map((kind) => ({ mode, kind, through: mode.name, by: kind.name })));

describe.each(PAIRS)('$by through $through', ({ mode, kind }) => {
  let expected: Transcripts;
  let transcripts: Transcripts;
  beforeAll(async () => {
    expected = await runDirect(kind);
    transcripts = await runMode(mode, kind);
  });

  // Who is refused as busy where processes are few is chance.
  const stories = NAMES.filter(
    (name) => mode.name !== 'bridge-2026-2025-per-session' || name !== 'two clients at once',
  );
  it.each(stories)('runs the story "%s" as without a proxy', async (name) => {
    const compare = comparable(mode, kind);
    const [got, due] = [transcripts.get(name), expected.get(name)];
    const isExcepted = EXCEPTIONS.some(({ modes, story }) => story === name && modes.includes(mode.name));
    if (isExcepted) {
      expect(compare(got?.outcome), 'the exception is no longer one: remove it').not.toEqual(compare(due?.outcome));
      const text = `${JSON.stringify(got?.outcome, undefined, 1)}\n`;
      const file = `transcripts/${mode.name}/${kind.name}/${name.replaceAll(' ', '-')}.snap`;
      await expect(text).toMatchFileSnapshot(file);
      return;
    }
    expect(compare(got?.outcome)).toEqual(compare(due?.outcome));
    if (!isTranslated(mode, kind)) expect(got?.messages).toEqual(due?.messages);
  });
});

/** Between eras the messages differ by nature; what the client gets out of them must not. */
function isTranslated({ server }: Mode, { era }: ClientKind): boolean {
  return !server.eras.split(',').includes(era);
}

/** Hints for caches and the name of the server are in each result of 2026-07-28, and in none of the sessions before it. */
const OF_ONE_ERA = new Set(['_meta', 'ttlMs', 'cacheScope', 'resultType']);

function comparable(mode: Mode, kind: ClientKind): (value: unknown) => unknown {
  if (!isTranslated(mode, kind)) return (value) => value;
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isFields(value)) return value;
    const entries = Object.entries(fields(value)).filter(([key]) => !OF_ONE_ERA.has(key));
    return Object.fromEntries(entries.map(([key, held]) => [key, strip(held)]));
  };
  return strip;
}

// The stories by both official clients with the server itself, against committed transcripts: what the modes of the proxy
// are compared with. Real clients, real processes, loopback only.

import { beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS, runDirect, type Transcripts } from './client-kinds.ts';
import { STORIES } from './stories.ts';

describe.each(CLIENTS)('$name with the server itself', (kind) => {
  let transcripts: Transcripts;
  beforeAll(async () => {
    transcripts = await runDirect(kind);
  });

  it.each(STORIES)('runs the story "$name" as committed', async ({ name }) => {
    const outcome = `${JSON.stringify(transcripts.get(name)?.outcome, undefined, 1)}\n`;
    await expect(outcome).toMatchFileSnapshot(`transcripts/${kind.name}/${name.replaceAll(' ', '-')}.snap`);
  });
});

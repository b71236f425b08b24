// Tests reading a repository at one commit, for servers that still serve the commit and servers that do not.

import { expect, test } from 'vitest';
import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { pinned } from './pinned.ts';

const [PLANNED, NEWER] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];

function checkout(commit: string): Checkout {
  return { commit, files: [], skipped: [], read: async () => new Map() };
}

/** Returns a repository whose ref names the commit `named`. The repository also serves the commits `others`. */
function repository(named: string, others: readonly string[]): Repository {
  return {
    fetch: async () => checkout(named),
    async at(commit) {
      if (others.includes(commit)) return checkout(commit);
      throw new Failure('git-ref-not-found', 'no such commit');
    },
    ancestors: async () => [],
  };
}

test.each([
  { named: NEWER, others: [PLANNED], byTag: false, gone: false, reason: 'a server that hands out every commit' },
  {
    named: PLANNED,
    others: [],
    byTag: false,
    gone: false,
    reason: 'it serves only the commit that a ref names, and the ref names it',
  },
  {
    named: NEWER,
    others: [],
    byTag: false,
    gone: true,
    reason: 'it serves only the commit that a ref names, and the ref names another',
  },
  {
    named: NEWER,
    others: [PLANNED],
    byTag: true,
    gone: true,
    reason: 'a commit that is trusted for a tag, which moved',
  },
])('$reason: gone is $gone', async ({ named, others, byTag, gone }) => {
  const fetched = pinned(repository(named, others), { commit: PLANNED }, byTag).fetch();
  if (gone) await expect(fetched).rejects.toMatchObject({ code: 'plan-commit-gone' });
  else expect((await fetched).commit).toBe(PLANNED);
});

test.each([
  { named: PLANNED, recorded: false, refused: false, reason: 'a commit that the ref names' },
  { named: NEWER, recorded: true, refused: false, reason: 'a commit that a run has read before' },
  {
    named: NEWER,
    recorded: false,
    refused: true,
    reason: 'a commit that was only pushed, such as of an open pull request',
  },
])('$reason, in an unsigned plan: refused is $refused', async ({ named, recorded, refused }) => {
  const pin = { commit: PLANNED, wasNamed: async () => recorded };
  const fetched = pinned(repository(named, [PLANNED]), pin, false).fetch();
  if (refused) await expect(fetched).rejects.toMatchObject({ code: 'plan-commit-unknown' });
  else expect((await fetched).commit).toBe(PLANNED);
});

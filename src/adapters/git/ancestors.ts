// Fetches the history before a commit from a remote repository.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { openObjectStore } from './objects/objects.ts';
import { ancestorsOf } from './objects/tree.ts';
import { commitReference, type Reference } from './reference.ts';
import { createBareRepository, fetchObjects, locate, useRemote } from './remote.ts';
import { useFolder } from './state.ts';
import type { Endpoint } from './transport/transport.ts';

interface AncestorsOptions {
  readonly dir: string;
  readonly endpoint: Endpoint;
  /** If the server does not send commits by id, the commit is searched in the history of this reference. */
  readonly reference: Reference;
  readonly limits: { readonly maxObjectBytes: number };
}

/** Fetches into a temporary folder, because the local copy has no history. */
export async function fetchAncestors(
  { dir, endpoint, reference: followed, limits }: AncestorsOptions,
  commit: string,
  count: number,
): Promise<readonly string[]> {
  return useFolder(dir, async () => {
    const gitdir = await mkdtemp(join(dir, 'history-'));
    try {
      await useRemote(endpoint, async (remote) => {
        await createBareRepository(remote, gitdir);
        await fetchObjects(remote, gitdir, commitReference(commit), count + 1).catch(async (error: unknown) => {
          if (!(error instanceof Failure) || error.code !== 'git-ref-not-found') throw error;
          const { reference } = await locate(remote, followed);
          await fetchObjects(remote, gitdir, reference, count + 1);
        });
      });
      const store = openObjectStore(join(gitdir, 'objects'), limits.maxObjectBytes);
      try {
        return ancestorsOf(store, commit, count);
      } finally {
        store.close();
      }
    } finally {
      await rm(gitdir, { recursive: true, force: true });
    }
  });
}

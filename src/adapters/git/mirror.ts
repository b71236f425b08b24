// Reads a remote repository through a local copy. Fetches only new objects, and clones a damaged copy again.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout, Clock, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { fetchAncestors } from './ancestors.ts';
import { runLocked } from './lock.ts';
import { readBlobs } from './objects/blobs.ts';
import { openObjectStore } from './objects/objects.ts';
import { listFiles, peelToCommit } from './objects/tree.ts';
import { openRecent, type Recent } from './recent.ts';
import { commitReference, type Reference } from './reference.ts';
import {
  createBareRepository,
  fetchObjects,
  type Located,
  locate,
  type Remote,
  rememberHave,
  useRemote,
} from './remote.ts';
import type { ReadTrust, Trust } from './signatures/verify.ts';
import { type CloneFolder, openState, useFolder } from './state.ts';
import type { Endpoint } from './transport/transport.ts';

export interface MirrorOptions {
  readonly endpoint: Endpoint;
  readonly reference: Reference;
  readonly path: string;
  readonly trust: ReadTrust;
  readonly dir: string;
  readonly clock: Clock;
  readonly limits: {
    readonly maxObjectBytes: number;
    readonly maxPacks: number;
    readonly lockWaitMs: number;
  };
}

interface Mirror {
  readonly options: MirrorOptions;
  readonly state: CloneFolder;
  readonly recent: Recent<{ readonly gitdir: string; readonly checkout: Checkout }>;
}

export function openMirror(options: MirrorOptions): Repository {
  const mirror: Mirror = { options, state: openState(options.dir), recent: openRecent() };
  return {
    fetch: () => useRemote(options.endpoint, (remote) => fetchNow(mirror, remote)),
    at: (commit) => fetchAt(mirror, commit),
    ancestors: (commit, count) => fetchAncestors(options, commit, count),
  };
}

/** Fetches the current commit. Repeats the fetch once if the ref moves during it. */
async function fetchNow(mirror: Mirror, remote: Remote): Promise<Checkout> {
  try {
    return await fetchOnce(mirror, remote);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'git-ref-not-found' || !error.retryable) throw error;
    return fetchOnce(mirror, remote);
  }
}

async function fetchOnce(mirror: Mirror, remote: Remote): Promise<Checkout> {
  const trust = await mirror.options.trust();
  const located = await locate(remote, mirror.options.reference);
  return useFolder(mirror.options.dir, async () => {
    const known = mirror.recent.get(checkoutKey(located, trust));
    if (known !== undefined && known.gitdir === (await mirror.state.current())) return known.checkout;
    return locked(mirror, () => bring(mirror, remote, located, trust));
  });
}

function checkoutKey({ reference, tip }: Located, { digest }: Trust): string {
  return [reference.type, tip, digest].join(' ');
}

/** Depth of the history that is fetched if the server does not send commits by id. */
const HISTORY_MAX = 1000;

/** Returns a past commit. A previously fetched commit needs no server, which may be down during a rollback. */
async function fetchAt(mirror: Mirror, commit: string): Promise<Checkout> {
  const { dir, endpoint } = mirror.options;
  const trust = await mirror.options.trust();
  const located = { reference: commitReference(commit), tip: commit };
  return useFolder(dir, async () => {
    const current = await mirror.state.current();
    const known = mirror.recent.get(checkoutKey(located, trust));
    if (known !== undefined && known.gitdir === current) return known.checkout;
    return locked(mirror, async () => {
      if (current !== undefined && (await holdsCommit(mirror, current, commit)))
        return openCheckout(mirror, current, located, trust);
      return useRemote(endpoint, (remote) => bringAt(mirror, remote, located, trust));
    });
  });
}

async function holdsCommit(mirror: Mirror, gitdir: string, commit: string): Promise<boolean> {
  try {
    return (await inspect(mirror, gitdir, commit)).has;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

/** Fetches a commit by id. If the server refuses, fetches the ref's history and searches the commit in it. */
async function bringAt(mirror: Mirror, remote: Remote, located: Located, trust: Trust): Promise<Checkout> {
  try {
    return await bring(mirror, remote, located, trust);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'git-ref-not-found') throw error;
    const { reference } = await locate(remote, mirror.options.reference);
    const gitdir = await mirror.state.fresh();
    await createBareRepository(remote, gitdir);
    await fetchObjects(remote, gitdir, reference, HISTORY_MAX);
    if (!(await holdsCommit(mirror, gitdir, located.tip))) {
      await rm(gitdir, { recursive: true, force: true });
      throw error;
    }
    await mirror.state.adopt(gitdir);
    return openCheckout(mirror, gitdir, located, trust);
  }
}

function locked<T>({ options }: Mirror, run: () => Promise<T>): Promise<T> {
  const { clock, dir, limits } = options;
  return runLocked(clock, dir, limits.lockWaitMs, run);
}

/** Reads the commit from the local copy. If the copy lacks it, fetches it from the server. */
async function bring(mirror: Mirror, remote: Remote, { tip, reference }: Located, trust: Trust): Promise<Checkout> {
  const current = await mirror.state.current();
  if (current === undefined) return cloneAnew(mirror, remote, reference, trust);
  try {
    const { packs, has } = await inspect(mirror, current, tip);
    if (has) return await openCheckout(mirror, current, { reference, tip }, trust);
    if (packs >= mirror.options.limits.maxPacks) return await cloneAnew(mirror, remote, reference, trust);
    const fetched = await fetchOnTop(remote, current, reference);
    if (fetched === undefined) return await cloneAnew(mirror, remote, reference, trust);
    await inspect(mirror, current, fetched);
    return await openCheckout(mirror, current, { reference, tip: fetched }, trust);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return cloneAnew(mirror, remote, reference, trust);
  }
}

/** Returns undefined if a file is too large for a delta. The caller may then fetch the whole commit. */
async function fetchOnTop(
  remote: Remote,
  gitdir: string,
  reference: Located['reference'],
): Promise<string | undefined> {
  try {
    return await fetchObjects(remote, gitdir, reference);
  } catch (error) {
    if (error instanceof Failure && error.code === 'git-too-large') return undefined;
    throw error;
  }
}

async function cloneAnew(
  mirror: Mirror,
  remote: Remote,
  reference: Located['reference'],
  trust: Trust,
): Promise<Checkout> {
  const gitdir = await mirror.state.fresh();
  try {
    await createBareRepository(remote, gitdir);
    const fetched = await fetchObjects(remote, gitdir, reference);
    await inspect(mirror, gitdir, fetched);
    await mirror.state.adopt(gitdir);
    return await openCheckout(mirror, gitdir, { reference, tip: fetched }, trust);
  } catch (error) {
    if ((await mirror.state.current()) !== gitdir) await rm(gitdir, { recursive: true, force: true });
    if (!isDamage(error)) throw error;
    throw new Failure('git-protocol-error', 'the server sent an incomplete pack', { cause: error, retryable: true });
  }
}

/** Throws Failure `git-damaged` if a pack of the copy is damaged. */
async function inspect({ options }: Mirror, gitdir: string, oid: string): Promise<{ packs: number; has: boolean }> {
  const store = openObjectStore(join(gitdir, 'objects'), options.limits.maxObjectBytes);
  try {
    await store.verify();
    return { packs: store.packs(), has: store.read(oid) !== undefined };
  } finally {
    store.close();
  }
}

/** Verifies the required signatures of a commit in the local copy, lists its files, and caches the list. */
async function openCheckout(mirror: Mirror, gitdir: string, located: Located, trust: Trust): Promise<Checkout> {
  const { options } = mirror;
  const store = openObjectStore(join(gitdir, 'objects'), options.limits.maxObjectBytes);
  try {
    const { tip } = located;
    const commit = peelToCommit(store, tip);
    await trust.check(store, { ...located, commit });
    await rememberHave(gitdir, commit);
    const listing = listFiles(store, commit, options.path);
    const checkout: Checkout = { commit, ...listing, read: (oids) => readOrMend(mirror, gitdir, oids) };
    mirror.recent.set(checkoutKey(located, trust), { gitdir, checkout });
    return checkout;
  } finally {
    store.close();
  }
}

/** Reads contents. If the copy was damaged or removed since the fetch, creates it again and retries once. */
async function readOrMend(
  mirror: Mirror,
  gitdir: string,
  oids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const { dir, limits } = mirror.options;
  try {
    return await readBlobs(join(gitdir, 'objects'), limits.maxObjectBytes, oids);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const repaired = await useFolder(dir, () => locked(mirror, () => otherCopy(mirror, gitdir)));
  return readBlobs(join(repaired, 'objects'), limits.maxObjectBytes, oids);
}

/** Returns a new copy, or the copy that another process has created in the meantime. */
async function otherCopy(mirror: Mirror, damaged: string): Promise<string> {
  const current = await mirror.state.current();
  if (current !== undefined && current !== damaged) return current;
  await useRemote(mirror.options.endpoint, async (remote) => {
    const trust = await mirror.options.trust();
    const { reference } = await locate(remote, mirror.options.reference);
    await cloneAnew(mirror, remote, reference, trust);
  });
  return (await mirror.state.current()) ?? damaged;
}

function isDamage(error: unknown): boolean {
  return error instanceof Failure && error.code === 'git-damaged';
}

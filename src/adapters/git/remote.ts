// Reads refs from a Git server and fetches commits from it into a bare repository.

import fs from 'node:fs';
import { join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { receivePack } from './objects/receive.ts';
import { gitPackage } from './package.ts';
import { type CommitReference, isOid, type NameReference, type Reference, TAG_PREFIX, tagOf } from './reference.ts';
import { isFileError } from './state.ts';
import { takeOutPack, withHead } from './transport/pkt-line.ts';
import { type Conversation, collectBytes, type Endpoint, streamOnce } from './transport/transport.ts';

/** Ref in the local copy. It points to a commit whose objects are all in the copy. */
const HAVE = 'refs/skep/have';

const NOT_GIT =
  'the answer does not come from a Git server (it may be a web page to sign in): correct the URL or the credentials';

/** URL and HTTP client for a conversation with the server. */
export interface Remote {
  readonly url: string;
  readonly http: Conversation['http'];
}

/** Opens a conversation, calls `run` and closes the conversation. */
export async function useRemote<T>(endpoint: Endpoint, run: (remote: Remote) => Promise<T>): Promise<T> {
  const { http, close } = endpoint.converse();
  try {
    return await run({ url: endpoint.url, http });
  } finally {
    close();
  }
}

/** The resolved reference, and the id of its current object, which is a commit or an annotated tag. */
export interface Located {
  readonly reference: NameReference | CommitReference;
  readonly tip: string;
}

/** Resolves a reference on the server with two small requests. A commit id needs no request. */
export async function locate(remote: Remote, reference: Reference): Promise<Located> {
  if (reference.type === 'commit') return { reference, tip: reference.oid };
  const refs = await orFailure('git-not-a-repository', NOT_GIT, () => {
    const prefix = reference.type === 'range' ? TAG_PREFIX : reference.name;
    return gitPackage().listServerRefs({ ...remote, protocolVersion: 2, prefix, symrefs: true });
  });
  const named =
    reference.type === 'name'
      ? reference
      : tagOf(
          reference,
          refs.map(({ ref }) => ref),
        );
  const found = refs.find(({ ref }) => ref === named.name);
  if (found === undefined) throw notFound(named.absent);
  // The id becomes a part of paths.
  if (!isOid(found.oid))
    throw new Failure('git-protocol-error', `the server gives ${found.ref} no commit but another text`);
  return { reference: named, tip: found.oid };
}

export async function createBareRepository({ url }: Remote, gitdir: string): Promise<void> {
  await fs.promises.mkdir(gitdir, { recursive: true });
  await gitPackage().init({ fs, gitdir, dir: gitdir, bare: true });
  await gitPackage().addRemote({ fs, gitdir, remote: 'origin', url });
}

/**
 * Fetches the current object of the reference with `depth - 1` generations of its history. Returns its id, which
 * belongs to a commit or an annotated tag. Objects of the commit of `rememberHave` are not sent again.
 */
export async function fetchObjects(
  remote: Remote,
  gitdir: string,
  reference: Located['reference'],
  depth = 1,
): Promise<string> {
  const packs: Buffer[] = [];
  const fetched = await orFailure('git-protocol-error', 'the server broke off the transfer', () =>
    gitPackage().fetch({
      ...remote,
      http: keepingPacks(remote.http, packs),
      fs,
      gitdir,
      ref: HAVE,
      remoteRef: reference.type === 'commit' ? reference.oid : reference.name,
      singleBranch: true,
      tags: false,
      depth,
      // A proxy in the local copy's configuration must not apply.
      corsProxy: '',
    }),
  ).catch((error: unknown) => Promise.reject(explainFailure(reference, error)));
  for (const pack of packs) {
    await orFailure('git-protocol-error', 'the server sent a pack that cannot be read', () =>
      receivePack(gitdir, pack),
    );
  }
  if (fetched.fetchHead === null) throw notFound(reference.absent);
  return fetched.fetchHead;
}

/**
 * Moves the packs of responses to `packs`, because isomorphic-git would decompress a whole pack at once. Adds a line
 * for HEAD to the list of refs.
 */
function keepingPacks(http: Remote['http'], packs: Buffer[]): Remote['http'] {
  return {
    async request(request) {
      const response = await http.request(request);
      if (request.method !== 'POST')
        return { ...response, body: streamOnce(withHead(await collectBytes(response.body))) };
      const { pack, rest } = takeOutPack(await collectBytes(response.body));
      if (pack.length > 0) packs.push(pack);
      return { ...response, body: streamOnce(rest) };
    },
  };
}

/**
 * Records for the next fetch that all objects of a commit are in the local copy. The commit is marked as shallow.
 * Otherwise the server could assume that the copy has the commit's ancestors, and omit a file that one contains.
 */
export async function rememberHave(gitdir: string, commit: string): Promise<void> {
  await fs.promises.writeFile(join(gitdir, 'shallow'), `${commit}\n`);
  await gitPackage().writeRef({ fs, gitdir, ref: HAVE, value: commit, force: true });
}

/** Converts errors of isomorphic-git to a Failure with a message for authors. The cause is the original error. */
async function orFailure<T>(
  code: 'git-not-a-repository' | 'git-protocol-error',
  says: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof Failure || isFileError(cause)) throw cause;
    throw new Failure(code, says, { cause, retryable: code === 'git-protocol-error' });
  }
}

function explainFailure(reference: Reference, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  if (error.cause instanceof gitPackage().Errors.NotFoundError) return notFound(reference.absent);
  if (error.code !== 'git-ref-not-found') return error;
  // The server listed the object but now refuses it, so the ref was moved in between.
  if (reference.type !== 'commit') {
    const message = 'it was moved while it was fetched';
    return new Failure('git-ref-not-found', message, { cause: error, retryable: true });
  }
  const says = 'its server does not know the commit, or hands out only commits that a branch or tag leads to';
  return notFound(`${says} (uploadpack.allowAnySHA1InWant)`);
}

function notFound(says: string): Failure {
  return new Failure('git-ref-not-found', says);
}

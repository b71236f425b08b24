// A registry of OCI images in memory: manifests, blobs, tags and referrers, with tokens, limits and faults that a test asks for. What it
// answers has the shape of the answers of go-containerregistry's registry, which were compared once.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sha256 } from '#std/hash.ts';

export interface TestRegistry {
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Paths that were requested, with `+` in front if they had an authorization. */
  readonly requests: string[];
  /** Answers instead of the registry, if it returns something. */
  fault:
    | ((path: string) => { readonly status: number; readonly headers?: Record<string, string> } | undefined)
    | undefined;
  /** If set, anonymous requests get a challenge, and tokens are for this user only. */
  account: { readonly user: string; readonly password: string; readonly realm?: string } | undefined;
  /** False: a registry from before the referrers API. */
  hasReferrers: boolean;
  /** True: its lists of referrers have the type of the configuration as artifact type, as those of go-containerregistry. */
  listsConfigTypes: boolean;
  /** Names of repositories to contents; bytes may be replaced by a test. */
  readonly contents: Map<string, Buffer>;
  putBlob(repository: string, bytes: Buffer): string;
  putManifest(repository: string, manifest: object, tag?: string): string;
  close(): Promise<void>;
}

const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';

export async function serveRegistry(): Promise<TestRegistry> {
  const contents = new Map<string, Buffer>();
  const server = createServer((request, response) => answer(registry, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const registry: TestRegistry = {
    host: `127.0.0.1:${port}`,
    requests: [],
    fault: undefined,
    account: undefined,
    hasReferrers: true,
    listsConfigTypes: false,
    contents,
    putBlob(repository, bytes) {
      const digest = `sha256:${sha256(bytes)}`;
      contents.set(`${repository}/blobs/${digest}`, bytes);
      return digest;
    },
    putManifest(repository, manifest, tag) {
      const bytes = Buffer.from(JSON.stringify(manifest));
      const digest = `sha256:${sha256(bytes)}`;
      contents.set(`${repository}/manifests/${digest}`, bytes);
      if (tag !== undefined) contents.set(`${repository}/manifests/${tag}`, bytes);
      return digest;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return registry;
}

const TOKEN = 'token-of-the-registry';

interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  readonly headers?: Record<string, string>;
}

function answer(registry: TestRegistry, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', `http://${registry.host}`);
  const { authorization } = request.headers;
  registry.requests.push(`${authorization === undefined ? '' : '+'}${url.pathname}`);
  const { status, body = '{"errors":[]}', headers = {} } = answerTo(registry, url, authorization);
  response.writeHead(status, headers).end(body);
}

function answerTo(registry: TestRegistry, url: URL, authorization: string | undefined): Answer {
  const fault = registry.fault?.(url.pathname);
  if (fault !== undefined) return fault;
  const { account } = registry;
  if (url.pathname === '/token') {
    const basic = account && `Basic ${Buffer.from(`${account.user}:${account.password}`).toString('base64')}`;
    if (authorization !== basic) return { status: 401 };
    return { status: 200, body: JSON.stringify({ token: TOKEN, scope: url.searchParams.get('scope') }) };
  }
  if (account !== undefined && authorization !== `Bearer ${TOKEN}`) {
    const realm = account.realm ?? `http://${registry.host}/token`;
    return { status: 401, headers: { 'www-authenticate': `Bearer realm="${realm}",service="test"` } };
  }
  const path = url.pathname.replace(/^\/v2\//, '');
  const [, repository = '', subject] = /^(.+)\/referrers\/(sha256:[0-9a-f]{64})$/.exec(path) ?? [];
  if (subject !== undefined && registry.hasReferrers) {
    const manifests = referrersOf(registry, repository, subject);
    const body = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
    return { status: 200, body, headers: { 'content-type': OCI_INDEX } };
  }
  const content = registry.contents.get(path);
  if (content === undefined) return { status: 404, body: '{"errors":[{"code":"MANIFEST_UNKNOWN"}]}' };
  const headers = { 'docker-content-digest': `sha256:${sha256(content)}`, 'content-type': OCI_MANIFEST };
  return { status: 200, body: content, headers };
}

/** Descriptors as the specification says: with the artifact type, and annotations of the manifest. */
function referrersOf({ contents, listsConfigTypes }: TestRegistry, repository: string, subject: string) {
  return [...contents].flatMap(([path, bytes]) => {
    const [, digest] = path.startsWith(`${repository}/`)
      ? (/\/manifests\/(sha256:[0-9a-f]{64})$/.exec(path) ?? [])
      : [];
    if (digest === undefined) return [];
    const manifest = JSON.parse(bytes.toString());
    if (manifest.subject?.digest !== subject) return [];
    const { mediaType, config, annotations } = manifest;
    const artifactType = listsConfigTypes ? config.mediaType : manifest.artifactType;
    return [{ mediaType, digest, size: bytes.length, artifactType, annotations }];
  });
}

// Signs requests with AWS Signature Version 4.

import { createHash, createHmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import { lazyPackage } from '#std/lazy-package.ts';
import type { OutgoingRequest } from './credential.ts';

export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
}

/** Parts of a request that are signed, exactly as they are sent. */
export interface SignedParts {
  readonly method: string;
  /** Path in the encoding in which it is sent. */
  readonly path: string;
  /** Query without the question mark. */
  readonly query: string;
  /** Headers with names in lower case, including `host`. Headers that proxies change, such as `te`, are not signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/**
 * Headers with names in lower case: `authorization`, `x-amz-date`, `x-amz-security-token`, and for some services the
 * hash of the body.
 */
export type SignatureHeaders = Readonly<Record<string, string>>;

type Init = ConstructorParameters<typeof SignatureV4>[0];
type Hash = InstanceType<NonNullable<Init['sha256']>>;
/** Accepts a function as `sha256`. The package calls `sha256` with `new`, and the function returns an object. */
type PlainInit = Omit<Init, 'sha256'> & { readonly sha256: (secret?: string | ArrayBuffer | ArrayBufferView) => Hash };
const signing = lazyPackage<{ readonly SignatureV4: new (init: PlainInit) => SignatureV4 }>('@smithy/signature-v4');

/** Services that sign paths as they are sent. All other services encode paths once more. */
const PATH_AS_SENT: ReadonlySet<string> = new Set(['s3', 's3-object-lambda', 's3-outposts', 's3express']);
/**
 * Services that require a header with the hash of the body, or with a constant that says that the body is not signed.
 */
const PAYLOAD_HEADER: ReadonlyMap<string, 'hash' | 'unsigned'> = new Map([
  ...[...PATH_AS_SENT, 'aoss'].map((service) => [service, 'hash'] as const),
  ['vpc-lattice-svcs', 'unsigned'],
]);

const ADDED = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'] as const;

/**
 * Returns the headers of the signed request. Signs only host, content type and `x-amz-` headers, because intermediaries
 * may add or drop other headers. `nowMs` is in milliseconds since 1970.
 */
export async function signRequest(
  scope: SigningScope,
  keys: SigningKeys,
  { method, url, headers, body }: OutgoingRequest,
  nowMs: number,
): Promise<OutgoingRequest['headers']> {
  const { host, pathname, search } = new URL(url);
  const kept = Object.entries(headers).filter(([name]) => !ADDED.some((added) => added === name));
  const signed = kept.filter(([name]) => ['host', 'content-type'].includes(name) || isAmazonHeader(name));
  const parts = {
    method,
    path: pathname,
    query: search.slice(1),
    headers: Object.fromEntries([['host', host], ...signed]),
    body,
  };
  return { ...Object.fromEntries(kept), ...(await signParts(scope, keys, parts, nowMs)) };
}

/** Returns whether AWS interprets the header. */
export function isAmazonHeader(name: string): boolean {
  return name.startsWith('x-amz-');
}

export async function signParts(
  { region, service }: SigningScope,
  keys: SigningKeys,
  parts: SignedParts,
  nowMs: number,
): Promise<SignatureHeaders> {
  const payload = PAYLOAD_HEADER.get(service);
  const { SignatureV4: Signature } = signing();
  const signature = new Signature({
    region,
    service,
    credentials: keys,
    sha256: hashWithNode,
    uriEscapePath: !PATH_AS_SENT.has(service),
    applyChecksum: payload === 'hash',
  });
  const unsigned: SignatureHeaders = payload === 'unsigned' ? { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } : {};
  const { method, path, headers, body } = parts;
  const hostname = headers.host ?? '';
  const signed = await signature.sign(
    {
      protocol: 'https:',
      hostname,
      method,
      path,
      query: queryOf(parts.query),
      headers: { ...headers, ...unsigned },
      body,
    },
    { signingDate: nowMs / 1000 },
  );
  return Object.fromEntries(ADDED.flatMap((name) => pair(name, signed.headers[name])));
}

function pair(name: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value]];
}

function queryOf(query: string): Record<string, string[]> {
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) values[name] = [...(values[name] ?? []), value];
  return values;
}

function hashWithNode(secret?: string | ArrayBuffer | ArrayBufferView): Hash {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  return {
    update: (data: string | ArrayBuffer | ArrayBufferView) => {
      hash.update(bytesOf(data));
    },
    digest: async () => hash.digest(),
    reset: () => undefined,
  };
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

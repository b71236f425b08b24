// Verifies AWS Signature Version 4 for test servers, by its documentation. Shares no code with the implementation that
// signs requests.

import { createHash, createHmac } from 'node:crypto';

export interface WireRequest {
  readonly method: string;
  /** Path with query, as sent by the client. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the problem of the signature. undefined if the signature is valid. */
export function signatureProblem(request: WireRequest, secretAccessKey: string): string | undefined {
  const { authorization = '', 'x-amz-date': date = '' } = request.headers;
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  if (parts === null) return `no signature: ${authorization}`;
  const [, , scope = '', names = '', signature] = parts;
  const signedNames = names.split(';');
  const required = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const missing = required.filter((name) => !signedNames.includes(name));
  if (missing.length > 0) return `not signed: ${missing.join(', ')}`;
  if (!scope.startsWith(`${date.slice(0, 8)}/`)) return `scope ${scope} is not of ${date}`;
  const canonical = canonicalRequest(request, signedNames);
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256Hex(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${secretAccessKey}`));
  const expected = hmac(key, text).toString('hex');
  return expected === signature ? undefined : `signature ${signature} is not that of\n${canonical}`;
}

function canonicalRequest({ method, path, headers, body }: WireRequest, names: readonly string[]): string {
  const [rawPath = '', rawQuery = ''] = path.split('?', 2);
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`);
  const payload = headers['x-amz-content-sha256'] ?? sha256Hex(body);
  return [method, canonicalPath(rawPath), canonicalQuery(rawQuery), lines.join(''), names.join(';'), payload].join(
    '\n',
  );
}

/** Encodes the already encoded path again, as the specification requires. */
function canonicalPath(path: string): string {
  return path.split('/').map(encoded).join('/');
}

function canonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const decoded = pairs.map((pair) => {
    const [name = '', value = ''] = pair
      .split('=', 2)
      .map((part) => encoded(decodeURIComponent(part.replaceAll('+', ' '))));
    return { name, value };
  });
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return decoded
    .sort((a, b) => order(a.name, b.name) || order(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`)
    .join('&');
}

/** Encodes all characters except the unreserved characters of RFC 3986 section 2.3. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

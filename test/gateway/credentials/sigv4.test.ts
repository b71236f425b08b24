// Tests that signatures equal those of the published AWS Signature Version 4 test suite, and cover the sent request. In
// one file, because all tests use the keys and the date of that suite.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type SigningKeys, signParts, signRequest } from '#gateway/credentials/sigv4.ts';
import { signatureProblem } from './sigv4-verifier.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const KEYS: SigningKeys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET };
const SCOPE = { region: 'us-east-1', service: 'service' };
const AT = Date.UTC(2015, 7, 30, 12, 36, 0);
const HOST = 'example.amazonaws.com';
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM_HASH = '9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e';
const VANILLA = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31';
const POST_VANILLA = '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b';

interface Vector {
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly sessionToken?: string;
  readonly signature: string;
}

const VECTORS: readonly Vector[] = [
  { name: 'get-vanilla', signature: VANILLA },
  {
    name: 'get-vanilla-query-order-key-case',
    query: 'Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'get-vanilla-query-order-encoded',
    query: 'Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
    signature: '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  },
  {
    name: 'get-vanilla-query-unreserved',
    query: `${UNRESERVED}=${UNRESERVED}`,
    signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  },
  {
    name: 'get-vanilla-utf8-query',
    query: 'ሴ=bar',
    signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  {
    name: 'get-vanilla-empty-query-key',
    query: 'Param1=value1',
    signature: 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  },
  {
    name: 'get-unreserved',
    path: `/${UNRESERVED}`,
    signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  { name: 'get-utf8', path: '/ሴ', signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85' },
  {
    name: 'get-space',
    path: '/example space/',
    signature: '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  },
  { name: 'get-relative-normalized', path: '/example/..', signature: VANILLA },
  { name: 'get-slash-dot-slash-normalized', path: '/./', signature: VANILLA },
  {
    name: 'get-slashes-normalized',
    path: '//example//',
    signature: '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84',
  },
  {
    name: 'get-slash-pointless-dot-normalized',
    path: '/./example',
    signature: 'ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5',
  },
  {
    name: 'get-header-key-duplicate',
    headers: { 'my-header1': 'value2,value2,value1' },
    signature: 'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  },
  {
    name: 'get-header-value-order',
    headers: { 'my-header1': 'value4,value1,value3,value2' },
    signature: '08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01',
  },
  {
    name: 'get-header-value-trim',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    name: 'get-vanilla-with-session-token',
    sessionToken: '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267',
    signature: '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
  },
  { name: 'post-vanilla', method: 'POST', signature: POST_VANILLA },
  {
    name: 'post-vanilla-query',
    method: 'POST',
    query: 'Param1=value1',
    signature: '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  },
  {
    name: 'post-header-key-sort',
    method: 'POST',
    headers: { 'my-header1': 'value1' },
    signature: 'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  },
  {
    name: 'post-header-value-case',
    method: 'POST',
    headers: { 'my-header1': 'VALUE1' },
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': '13',
      'x-amz-content-sha256': FORM_HASH,
    },
    body: 'Param1=value1',
    signature: 'd3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
  },
  {
    name: 'post-x-www-form-urlencoded-parameters',
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      'content-length': '13',
      'x-amz-content-sha256': FORM_HASH,
    },
    body: 'Param1=value1',
    signature: '328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422',
  },
];

describe('a signature equals the published vector', () => {
  it.each(VECTORS)(
    '$name',
    async ({ method = 'GET', path = '/', query = '', headers, body, sessionToken, signature }) => {
      const parts = {
        method,
        path,
        query,
        headers: { host: HOST, ...headers },
        body: body === undefined ? undefined : Buffer.from(body),
      };
      const added = await signParts(SCOPE, { ...KEYS, sessionToken }, parts, AT);
      const names = [
        'host',
        'x-amz-date',
        ...Object.keys(headers ?? {}),
        ...(sessionToken === undefined ? [] : ['x-amz-security-token']),
      ];
      expect(added).toEqual({
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names.toSorted().join(';')}, Signature=${signature}`,
        'x-amz-date': '20150830T123600Z',
        'x-amz-security-token': sessionToken,
        'x-amz-content-sha256': headers?.['x-amz-content-sha256'],
      });
    },
  );

  it.each([
    { name: 'get-vanilla', method: 'GET', path: '/', signature: VANILLA },
    {
      name: 'get-vanilla-query-order-key-case',
      method: 'GET',
      path: '/?Param2=value2&Param1=value1',
      signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    },
    { name: 'post-vanilla', method: 'POST', path: '/', signature: POST_VANILLA },
  ])('the verifier of these tests accepts $name, and refuses changed requests', ({ method, path, signature }) => {
    const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`;
    const request = {
      method,
      path,
      headers: { host: HOST, 'x-amz-date': '20150830T123600Z', authorization },
      body: '',
    };
    expect(signatureProblem(request, SECRET)).toBeUndefined();
    expect(signatureProblem({ ...request, body: 'x' }, SECRET)).toMatch(/^signature/);
    expect(signatureProblem({ ...request, path: `${path}x` }, SECRET)).toMatch(/^signature/);
  });
});

describe('the signature of a request', () => {
  const request = {
    method: 'POST',
    url: 'https://example.amazonaws.com/mcp/a%20b?b=2&a=1%2F2&b=1',
    headers: {
      'content-type': 'application/json',
      'mcp-session-id': 's',
      traceparent: '00-1-1-00',
      'x-amz-target': 'T',
    },
    body: Buffer.from('{"jsonrpc":"2.0"}'),
  } as const;

  it('host, content type and cloud headers are signed; other headers are unchanged', async () => {
    const headers = await signRequest(SCOPE, { ...KEYS, sessionToken: 'session' }, request, AT);
    expect(Object.keys(headers).toSorted()).toEqual(
      [...Object.keys(request.headers), 'authorization', 'x-amz-date', 'x-amz-security-token'].toSorted(),
    );
    expect(headers).toMatchObject(request.headers);
    expect(headers.authorization).toContain(
      'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, ',
    );
  });

  it('the signature covers the sent path and query', async () => {
    const headers = await signRequest(SCOPE, KEYS, request, AT);
    const { pathname, search, host } = new URL(request.url);
    const wire = { method: 'POST', path: pathname + search, headers: { ...headers, host }, body: String(request.body) };
    expect(signatureProblem(wire, SECRET)).toBeUndefined();
  });

  it('the sent Host header is signed', async () => {
    const headers = await signRequest(SCOPE, KEYS, { ...request, headers: { host: 'localhost' } }, AT);
    const { pathname, search } = new URL(request.url);
    expect(
      signatureProblem({ method: 'POST', path: pathname + search, headers, body: String(request.body) }, SECRET),
    ).toBeUndefined();
  });

  it('an existing signature is removed', async () => {
    const before = {
      authorization: 'Bearer caller',
      'x-amz-date': '20000101T000000Z',
      'x-amz-security-token': 'stolen',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    };
    const plain = await signRequest(SCOPE, KEYS, request, AT);
    const again = await signRequest(SCOPE, KEYS, { ...request, headers: { ...request.headers, ...before } }, AT);
    expect(again).toEqual(plain);
  });

  it.each(['s3', 'aoss'])('a request to %s has the hash of the body in a header', async (service) => {
    const headers = await signRequest({ ...SCOPE, service }, KEYS, request, AT);
    expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(request.body).digest('hex'));
    expect(headers.authorization).toContain(';x-amz-content-sha256;');
  });

  it('a request to vpc-lattice-svcs has the mark of an unsigned body', async () => {
    const headers = await signRequest({ ...SCOPE, service: 'vpc-lattice-svcs' }, KEYS, request, AT);
    expect(headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
    const { pathname, search, host } = new URL(request.url);
    const wire = { method: 'POST', path: pathname + search, headers: { ...headers, host }, body: 'anything' };
    expect(signatureProblem(wire, SECRET)).toBeUndefined();
  });
});

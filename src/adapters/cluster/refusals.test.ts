// Tests which failed requests are repeated, and the data of the errors.

import { expect, test } from 'vitest';
import { createAuthority } from '#kubernetes/devcluster/identity/certificate.ts';
import {
  busy,
  cleanups,
  connect,
  failureOf,
  first,
  hiccup,
  hurriedClock,
  type Reply,
  secret,
  serve,
  status,
  validity,
  widget,
  widgets,
} from '../../../test/harness/api-server.ts';

test.each<{
  reply: Reply | 'drop';
  call: 'apply' | 'remove' | 'list' | 'get' | 'create' | 'replace';
  sent: number;
  reason: string;
}>([
  { reply: busy, call: 'apply', sent: 2, reason: 'nothing was done' },
  { reply: busy, call: 'create', sent: 2, reason: 'nothing was done' },
  { reply: status(503, 'ServiceUnavailable', 'starting'), call: 'apply', sent: 2, reason: 'twice is as good as once' },
  { reply: status(504, 'Timeout', 'took too long'), call: 'remove', sent: 2, reason: 'twice is as good as once' },
  { reply: status(500, 'ServerTimeout', 'x'), call: 'get', sent: 2, reason: 'the server says so' },
  { reply: hiccup, call: 'apply', sent: 2, reason: 'the storage elects a leader' },
  { reply: { status: 502, text: '<html>' }, call: 'get', sent: 2, reason: 'a proxy in between' },
  { reply: 'drop', call: 'apply', sent: 2, reason: 'twice is as good as once' },
  { reply: 'drop', call: 'remove', sent: 2, reason: 'the uid is a precondition' },
  { reply: status(503, 'ServiceUnavailable', 'starting'), call: 'create', sent: 1, reason: 'it may have been created' },
  { reply: hiccup, call: 'replace', sent: 1, reason: 'it may have been replaced' },
  { reply: 'drop', call: 'create', sent: 1, reason: 'it may have been created' },
  { reply: 'drop', call: 'replace', sent: 1, reason: 'it may have been replaced' },
  { reply: status(500, 'InternalError', 'failed calling webhook'), call: 'apply', sent: 1, reason: 'unknown trouble' },
  { reply: status(422, 'Invalid', 'no'), call: 'apply', sent: 1, reason: 'the object is wrong' },
])('$call is sent $sent times after $reply.status$reply.json.message: $reason', async ({ reply, call, sent }) => {
  const { url, received } = await serve(first(reply));
  const cluster = await connect(url);
  const id = { apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'w' };
  const calls = {
    apply: () => cluster.apply(widget, { force: false }),
    remove: () => cluster.remove(id, 'uid'),
    list: () => cluster.list(widgets),
    get: () => cluster.get(id),
    create: () => cluster.create(widget),
    replace: () => cluster.replace(widget),
  };
  const outcome = await calls[call]().then(
    () => 'done',
    () => 'failed',
  );
  expect([received.length, outcome]).toEqual([sent, sent === 2 ? 'done' : 'failed']);
});

test('pauses grow, follow Retry-After, and end after a few attempts', async () => {
  const clock = hurriedClock();
  const patient = await serve(first({ ...busy, headers: { 'retry-after': '3' } }, hiccup, hiccup));
  await (await connect(patient.url, { clock })).apply(widget, { force: false });
  const [reported = 0, second = 0, third = 0] = clock.slept;
  expect([reported, second > 250 && second < 550, third > 550 && third < 1_050]).toEqual([3000, true, true]);
  const endless = await serve(() => busy);
  const failure = await failureOf(async () => (await connect(endless.url)).apply(widget, { force: false }));
  expect([failure.code, failure.retryable, endless.received.length]).toEqual(['cluster-busy', true, 6]);
  const tomorrow = await serve(() => ({ ...busy, headers: { 'retry-after': '3600' } }));
  await failureOf(async () => (await connect(tomorrow.url)).apply(widget, { force: false }));
  expect(tomorrow.received.length).toBe(1);
});

test('an absent server is unreachable after a few attempts, a silent server after the timeout', async () => {
  const { url } = await serve(() => 'silence');
  const silent = await failureOf(async () => (await connect(url, { timeoutMs: 100 })).list(widgets));
  expect([silent.code, silent.retryable, silent.message]).toEqual([
    'cluster-unreachable',
    true,
    `${url}/apis/example.com/v2/widgets: no answer within 100 ms`,
  ]);
  const urgent = await failureOf(async () => (await connect(url, { urgentTimeoutMs: 50 })).replace(widget));
  expect(urgent.message).toContain('no answer within 50 ms');
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  const clock = hurriedClock();
  const cluster = await connect(url, { clock });
  const refused = await failureOf(() => cluster.resources());
  expect([refused.code, refused.message]).toEqual(['cluster-unreachable', `${url}/api: connection refused`]);
  expect(cluster.requests()).toBe(12);
});

test('after a kind timed out, only one request for it is sent at a time, and other calls fail immediately', async () => {
  let now = 0;
  const { url } = await serve(() => {
    if (now > 0) return 'silence';
    now = 21_000;
    return status(403, 'Forbidden', 'after all that time');
  });
  const cluster = await connect(url, { clock: { ...hurriedClock(), monotonic: () => now } });
  const list = () => failureOf(() => cluster.list(widgets));
  const failures = [await list(), await list(), await list(), await list()];
  expect(failures.map(({ message }) => message.includes('had no answer lately'))).toEqual([false, true, true, true]);
  expect(cluster.requests()).toBe(2);
});

test('an untrusted certificate is reported without further attempts', async () => {
  const { url } = await serve(() => ({}));
  const other = createAuthority('other-ca', validity);
  const cluster = { 'certificate-authority-data': Buffer.from(other.certificate).toString('base64') };
  const connected = await connect(url, { cluster });
  const failure = await failureOf(() => connected.resources());
  expect([failure.code, failure.retryable]).toEqual(['cluster-unreachable', false]);
  expect(failure.message).toContain('no trusted TLS connection');
});

test.each([
  { reply: status(401, 'Unauthorized', 'Unauthorized'), code: 'cluster-unauthorized', says: 'Unauthorized' },
  { reply: status(403, 'Forbidden', 'widgets is forbidden'), code: 'cluster-forbidden', says: 'widgets is forbidden' },
  {
    reply: status(403, 'Forbidden', 'it is being terminated', {
      causes: [{ field: 'metadata.namespace', reason: 'NamespaceTerminating', message: 'x' }],
    }),
    code: 'cluster-namespace-leaving',
    says: 'terminated',
  },
  { reply: status(404, 'NotFound', 'namespaces "ns" not found'), code: 'cluster-not-found', says: 'namespaces "ns"' },
  { reply: status(409, 'Conflict', 'changed'), code: 'cluster-conflict', says: 'changed' },
  { reply: status(400, 'BadRequest', 'unknown field'), code: 'cluster-invalid', says: 'unknown field' },
  { reply: status(413, undefined, 'too large'), code: 'cluster-invalid', says: 'too large' },
  {
    reply: status(500, undefined, 'failed to create typed patch object (ns/w): .spec.x: field not declared in schema'),
    code: 'cluster-invalid',
    says: 'field not declared',
  },
  {
    reply: status(422, 'Invalid', 'uid', {
      causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message: 'x' }],
    }),
    code: 'cluster-conflict',
    says: 'uid',
  },
  { reply: status(500, 'InternalError', 'panic'), code: 'cluster-error', says: 'panic' },
  {
    reply: { status: 404, text: '404 page not found\n' },
    code: 'cluster-not-found',
    says: 'status 404: 404 page not found',
  },
  { reply: { status: 418, text: '' }, code: 'cluster-error', says: 'status 418' },
  { reply: { status: 301, text: '' }, code: 'cluster-error', says: 'status 301' },
  { reply: { text: '<html>' }, code: 'cluster-error', says: 'not a JSON object' },
  { reply: { text: '[]' }, code: 'cluster-error', says: 'not a JSON object' },
  { reply: { json: { kind: 'Widget' } }, code: 'cluster-error', says: 'not an object' },
])('$reply.status is $code', async ({ reply, code, says }) => {
  const { url } = await serve(() => reply);
  const failure = await failureOf(async () => (await connect(url)).apply(widget, { force: false }));
  const place = `${url}/apis/example.com/v2/namespaces/ns/widgets/w`;
  expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(`${place}: `)]);
  expect(failure.message).toContain(says);
  expect(failure.data).toMatchObject({ url: place });
});

test('a conflict contains the owners of the fields', async () => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.spec.size', message: 'conflict with "kubectl"' }];
  const { url } = await serve(() => status(409, 'Conflict', 'Apply failed with 1 conflict', { causes }));
  const failure = await failureOf(async () => (await connect(url)).apply(widget, { force: false }));
  expect(failure.data).toMatchObject({ status: 409, reason: 'Conflict', causes });
});

test('server messages about the content of a Secret are omitted, but owners of fields are reported', async () => {
  const causes = [
    { reason: 'FieldValueInvalid', field: 'data[p]', message: 'Invalid value: "hunter2"' },
    { reason: 'FieldManagerConflict', field: '.data.p', message: 'conflict with "kubectl"' },
  ];
  for (const code of [400, 403, 422, 500]) {
    const { url } = await serve(() => status(code, 'Invalid', 'Secret "s": "hunter2" is no good', { causes }));
    const failure = await failureOf(async () => (await connect(url)).apply(secret, { force: false }));
    const whole = `${failure.message} ${JSON.stringify(failure.data)} ${failure.stack} ${String(failure.cause)}`;
    expect(whole).not.toContain('hunter2');
    expect(whole).toContain('conflict with');
    expect(failure.message).toContain(`${code} Invalid at data[p], .data.p`);
  }
  const gone = await serve(() => status(404, 'NotFound', 'namespaces "ns" not found'));
  const missing = await failureOf(async () => (await connect(gone.url)).apply(secret, { force: false }));
  expect(missing.message).toContain('namespaces "ns" not found');
});

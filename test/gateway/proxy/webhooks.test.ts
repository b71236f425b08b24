// Tests webhooks: their requests, permitted changes, policies after changes, and webhooks that attack the proxy. In one
// file, because all tests share one server and the function that starts a proxy with webhooks.

import { createHmac } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { answerWith, closeHooks, type Hook, hook, patchWith, type Respond, startHook } from './hooks.ts';
import { callTool, get, runProxy, send, type TestedProxy } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'skep-webhooks-'));
const secretFile = join(folder, 'secret');
const policyFile = join(folder, 'authz.json');
let backend: TestBackend;
let running: TestedProxy[] = [];

beforeAll(async () => {
  backend = await startBackend();
  writeFileSync(secretFile, 'a key');
  const policies = [
    'permit(principal, action == Action::"call_tool", resource) when { context has arg_path && context.arg_path == "/public" };',
  ];
  writeFileSync(
    policyFile,
    JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies, entities_json: '[]' } }),
  );
});
afterEach(async () => {
  await Promise.all(running.map((proxy) => proxy.stop()));
  closeHooks();
  running = [];
});
afterAll(() => backend.close());

async function proxyWith(webhooks: RunConfig['webhooks'], more: Partial<RunConfig> = {}): Promise<TestedProxy> {
  const proxy = await runProxy({
    ...{ target_host: '127.0.0.1', target_port: backend.port, webhooks },
    audit_config: { enabled: true, component: 'hooked' },
    ...more,
  });
  running.push(proxy);
  return proxy;
}

function lastCall(): { readonly params: { readonly name: string; readonly arguments: object } } {
  return JSON.parse(backend.calls('tools/call').at(-1)?.body ?? '{}');
}

describe('a webhook', () => {
  it('gets a signed request with the caller and the bytes of the message', async () => {
    const { url, sent } = await startHook(answerWith({}));
    const proxy = await proxyWith({ validating: [hook(url, { hmac_secret_file: secretFile })] });
    const body =
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}}';
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    expect((await fetch(proxy.url, { method: 'POST', headers, body })).status).toBe(200);
    const [{ json, text, headers: got } = { json: {}, text: '', headers: {} }] = sent;
    expect(text).toContain(`"mcp_request":${body}`);
    expect(json).toMatchObject({
      version: 'v0.1.0',
      principal: null,
      context: { server_name: 'small', namespace: 'tests', transport: 'streamable-http' },
    });
    const signature = createHmac('sha256', 'a key')
      .update(`${String(got['x-toolhive-timestamp'])}.${text}`)
      .digest('hex');
    expect(got['x-toolhive-signature']).toBe(`sha256=${signature}`);
    expect(got).not.toHaveProperty('authorization');
    expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual(['guard: allowed']);
  });

  it('that denies prevents the request, and only the audit contains its reason', async () => {
    const { url } = await startHook(answerWith({ allowed: false, reason: 'pii', message: 'secret words' }));
    const proxy = await proxyWith({ validating: [hook(url, { failure_policy: 'ignore' })] });
    const before = backend.calls('tools/call').length;
    const refused = await callTool(proxy, 'echo');
    expect([refused.status, refused.json.error.message]).toEqual([403, 'Request denied by webhook policy']);
    expect(refused.text).not.toContain('pii');
    expect(backend.calls('tools/call').length).toBe(before);
    expect(proxy.audit.at(-1)).toMatchObject({
      outcome: 'denied',
      metadata: { extra: { refusal: 'webhook-denied', refusal_detail: 'guard: pii', webhooks: ['guard: denied'] } },
    });
  });

  it('that changes a message keeps all other bytes', async () => {
    const { url } = await startHook(patchWith({ op: 'add', path: '/mcp_request/params/arguments/tenant', value: 'a' }));
    const proxy = await proxyWith({ mutating: [hook(url)] });
    const body =
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993,"f":1.10}}}';
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    expect((await fetch(proxy.url, { method: 'POST', headers, body })).status).toBe(200);
    expect(backend.calls('tools/call').at(-1)?.body).toContain(
      '"arguments":{"n":9007199254740993,"f":1.10,"tenant":"a"}',
    );
    expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual(['guard: changed']);
  });

  it('gets the message with the changes of earlier webhooks, and validating webhooks get the final message', async () => {
    const first = await startHook(patchWith({ op: 'add', path: '/mcp_request/params/arguments/one', value: 1 }));
    const second = await startHook(
      patchWith({ op: 'move', from: '/mcp_request/params/arguments/one', path: '/mcp_request/params/arguments/two' }),
    );
    const last = await startHook(answerWith({}));
    const proxy = await proxyWith({
      validating: [hook(last.url, { name: 'c' })],
      mutating: [hook(first.url, { name: 'a' }), hook(second.url, { name: 'b' })],
    });
    expect((await callTool(proxy, 'echo', {})).status).toBe(200);
    expect(second.sent[0]?.json.mcp_request.params.arguments).toEqual({ one: 1 });
    expect(last.sent[0]?.json.mcp_request.params.arguments).toEqual({ two: 1 });
    expect(lastCall().params.arguments).toEqual({ two: 1 });
    expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual(['a: changed', 'b: changed', 'c: allowed']);
  });

  it('that changes the tool also changes the header `mcp-name`', async () => {
    const { url } = await startHook(patchWith({ op: 'replace', path: '/mcp_request/params/name', value: 'echo' }));
    const proxy = await proxyWith({ mutating: [hook(url)] });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'fail' };
    await send(proxy, 'tools/call', { name: 'fail', arguments: {}, _meta: meta }, headers);
    expect(backend.calls('tools/call').at(-1)?.headers['mcp-name'] ?? lastCall().params.name).toBe('echo');
    expect(lastCall().params.name).toBe('echo');
  });
});

describe('over TLS', () => {
  const DAY_MS = 86_400_000;
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority('webhooks', validity);
  const { certificate: cert, privateKey: key } = createServerCertificate(
    authority,
    'webhooks',
    ['127.0.0.1'],
    validity,
  );
  const own = createAuthority('proxy', validity);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const shown = () => ({
    client_cert_file: file('tls.crt', own.certificate),
    client_key_file: file('tls.key', own.privateKey),
  });
  const trusted = () => ({ ca_file: file('ca.pem', authority.certificate) });

  it.each<[string, () => Partial<Hook>, number]>([
    [
      'with a trusted certificate, which trusts the certificate of the proxy, is called',
      () => ({ ...trusted(), ...shown() }),
      200,
    ],
    ['that trusts only clients with a certificate fails without one', trusted, 503],
    ['with an untrusted certificate leads to a failure', shown, 503],
    [
      'is asked whatever its certificate is, where it is not checked',
      () => ({ ...shown(), insecure_skip_verify: true }),
      200,
    ],
  ])('a webhook %s', async (_name, more, status) => {
    const { url } = await startHook(answerWith({}), { cert, key, ca: own.certificate });
    const proxy = await proxyWith({ validating: [hook(url, { insecure_skip_verify: false, ...more() })] });
    expect((await callTool(proxy, 'echo')).status).toBe(status);
  });
});

describe('policies decide about a message after a webhook', () => {
  const authz = { authz_config_path: policyFile };
  it.each<[string, object, number]>([
    ['removes the argument that a policy reads', { op: 'remove', path: '/mcp_request/params/arguments/path' }, 403],
    [
      'changes it to what no policy permits',
      { op: 'replace', path: '/mcp_request/params/arguments/path', value: '/etc' },
      403,
    ],
    [
      'adds the same argument in another case',
      { op: 'add', path: '/mcp_request/params/arguments/PATH', value: '/etc' },
      400,
    ],
    ['leaves it as it is', { op: 'test', path: '/mcp_request/params/arguments/path', value: '/public' }, 200],
  ])('that %s', async (_name, operation, status) => {
    const { url } = await startHook(patchWith(operation));
    const proxy = await proxyWith({ mutating: [hook(url)] }, authz);
    const before = backend.calls('tools/call').length;
    expect((await callTool(proxy, 'echo', { path: '/public' })).status).toBe(status);
    expect(backend.calls('tools/call').length - before).toBe(status === 200 ? 1 : 0);
  });

  it('that permits a call that policies deny', async () => {
    const { url } = await startHook(answerWith({}));
    const proxy = await proxyWith({ validating: [hook(url)] }, authz);
    expect((await callTool(proxy, 'echo', { path: '/etc' })).status).toBe(403);
  });
});

const endless: Respond = (_sent, response) => {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const more = () => {
    while (response.write(chunk));
  };
  response.on('drain', more);
  more();
};

function nested(levels: number): object {
  return levels === 0 ? {} : [nested(levels - 1)];
}

type Attack = readonly [what: string, respond: Respond, detail: string, more?: Partial<Hook>];

function attacks(rows: readonly Attack[]) {
  return rows.map(([what, respond, detail, more]) => ({ what, respond, detail, more: more ?? {} }));
}

const ATTACKS = attacks([
  ['sends gigabytes', endless, ''],
  ['never answers', () => undefined, '', { timeout_ms: 200 }],
  ['sends its answer without end, slowly', (_sent, response) => void response.write('{'), '', { timeout_ms: 200 }],
  [
    'redirects',
    (_sent, response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
    'status 307',
  ],
  ['answers for another request', answerWith({ uid: 'other' }), 'uid differs'],
  ['answers without an id', answerWith({ uid: undefined }), 'uid differs'],
  ['sends invalid UTF-8', (_sent, response) => response.end(Buffer.from([0x7b, 0xff, 0x7d])), 'not UTF-8'],
  ['does not return `allowed`', answerWith({ allowed: undefined }), 'no allowed'],
  ['permits by a text', answerWith({ allowed: 'true' }), 'no allowed'],
  [
    'permits and denies at once',
    ({ json }, response) => response.end(`{"uid":"${json.uid}","allowed":false,"Allowed":true}`),
    'a key twice',
  ],
  ['answers 201', (_sent, response) => response.writeHead(201).end('{}'), 'status 201'],
  ['answers 500', (_sent, response) => response.writeHead(500).end(), 'status 500'],
  ['closes the connection', (_sent, response) => void response.destroy(), ''],
  ['changes the method', patchWith({ op: 'replace', path: '/mcp_request/method', value: 'tools/list' }), 'not below'],
  ['changes the id', patchWith({ op: 'replace', path: '/mcp_request/id', value: 9 }), 'not below'],
  ['changes who calls', patchWith({ op: 'add', path: '/principal/sub', value: 'root' }), 'not below'],
  ['replaces the whole message', patchWith({ op: 'replace', path: '/mcp_request', value: {} }), 'not below'],
  [
    'copies from elsewhere',
    patchWith({ op: 'copy', from: '/principal', path: '/mcp_request/params/arguments/x' }),
    'not below',
  ],
  ['removes what is not there', patchWith({ op: 'remove', path: '/mcp_request/params/none' }), 'does not have'],
  [
    'adds a key of the protocol in another case',
    patchWith({ op: 'add', path: '/mcp_request/params/NAME', value: 'fail' }),
    'refused',
  ],
  [
    'makes the message too large',
    patchWith(
      { op: 'add', path: '/mcp_request/params/x', value: 'x'.repeat(1_000_000) },
      { op: 'copy', from: '/mcp_request/params/x', path: '/mcp_request/params/y' },
    ),
    'too large',
  ],
  ['has an operation that is unknown', patchWith({ op: 'merge', path: '/mcp_request/params/x', value: 1 }), 'unknown'],
  [
    'has an operation with a key twice',
    ({ json }, response) =>
      response.end(
        `{"uid":"${json.uid}","allowed":true,"patch_type":"json_patch","patch":[{"op":"test","op":"remove","path":"/mcp_request/params/arguments"}]}`,
      ),
    'a key twice',
  ],
  ['is nested too deep', answerWith({ patch: nested(300) }), 'too deep'],
  ['has another type of patch', answerWith({ patch_type: 'merge', patch: [] }), 'patch_type'],
]);

describe('a webhook that attacks the proxy', () => {
  it.each(ATTACKS)('and $what leads to a failure', async ({ respond, detail, more }) => {
    const { url } = await startHook(respond);
    const proxy = await proxyWith({ mutating: [hook(url, more)] });
    const before = backend.calls('tools/call').length;
    const refused = await callTool(proxy, 'echo', { text: 'x' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(backend.calls('tools/call').length).toBe(before);
    expect(proxy.audit.at(-1).metadata.extra).toMatchObject({ refusal: 'webhook-failed', webhooks: ['guard: failed'] });
    expect(proxy.audit.at(-1).metadata.extra.refusal_detail).toContain(detail);
  });

  it.each(ATTACKS.slice(3, 6))('and $what is ignored and counted if failurePolicy is `ignore`', async ({ respond }) => {
    const { url } = await startHook(respond);
    const proxy = await proxyWith(
      { mutating: [hook(url, { failure_policy: 'ignore' })] },
      {
        telemetry_config: {
          service_name: 'hooked',
          insecure: true,
          metrics_enabled: false,
          tracing_enabled: false,
          sampling_rate: '0.05',
          use_legacy_attributes: false,
          enable_prometheus_metrics_path: true,
        },
      },
    );
    expect((await callTool(proxy, 'echo', { text: 'x' })).status).toBe(200);
    expect(lastCall().params.arguments).toEqual({ text: 'x' });
    expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual(['guard: ignored']);
    await proxy.written('webhook-ignored');
    const { text } = await get(`${proxy.origin}/metrics`);
    expect(text).toContain('skep_proxy_webhook_answers_total{server="small",webhook="guard",outcome="ignored"} 1');
  });

  it('as a validating webhook cannot change a message', async () => {
    const { url } = await startHook(patchWith({ op: 'add', path: '/mcp_request/params/arguments/x', value: 1 }));
    const proxy = await proxyWith({ validating: [hook(url)] });
    expect((await callTool(proxy, 'echo')).status).toBe(503);
  });
});

describe('no webhook is called', () => {
  it('about a message that it could not receive completely', async () => {
    const { url, sent } = await startHook(answerWith({}));
    const proxy = await proxyWith({ validating: [hook(url, { failure_policy: 'ignore' })] });
    const refused = await callTool(proxy, 'echo', { text: 'x'.repeat(1024 * 1024) });
    expect([refused.status, proxy.audit.at(-1).metadata.extra.refusal]).toEqual([413, 'webhook-request-too-large']);
    expect(sent).toEqual([]);
  });

  it('over plain HTTP, unless the check of its certificates is disabled', async () => {
    const { url, sent } = await startHook(answerWith({}));
    const proxy = await proxyWith({ validating: [hook(url, { insecure_skip_verify: false })] });
    expect((await callTool(proxy, 'echo')).status).toBe(503);
    expect(sent).toEqual([]);
  });

  it('without the key for signatures', async () => {
    const { url, sent } = await startHook(answerWith({}));
    const proxy = await proxyWith({ validating: [hook(url, { hmac_secret_file: join(folder, 'none') })] });
    expect((await callTool(proxy, 'echo')).status).toBe(503);
    expect(sent).toEqual([]);
  });
});

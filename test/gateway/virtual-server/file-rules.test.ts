// Tests that a value that is invalid in a manifest is also refused in the configuration file of a virtual server, by
// `skep vmcp validate`, at the start and on reload. In one file, because the values are one table that all tests use.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { serveFile } from '#hosts/virtual-server/serve-file.ts';
import { checkVirtualConfig } from '#hosts/virtual-server/validate.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { readFixture } from '../../reconciler/kinds/fixture.ts';
import { postTo } from './world.ts';

interface Row {
  readonly name: string;
  /** Blocks of the configuration file. */
  readonly block: JsonObject;
  readonly message: string;
  /** Reason why a manifest cannot contain the block. */
  readonly fileOnly?: string;
}

const OIDC = { issuer: 'https://id.example.com', audience: 'office', resource: 'https://office.example.com/mcp' };
const oidc = (settings: JsonObject) => ({ incomingAuth: { type: 'oidc', oidc: { ...OIDC, ...settings } } });
const failures = (settings: JsonObject) => ({ operational: { failureHandling: settings } });
const strategy = (settings: JsonObject) => ({ outgoingAuth: { source: 'inline', backends: { wiki: settings } } });
const exchange = { tokenUrl: 'https://id.example.com/token' };
const step = (settings: JsonObject) => ({
  compositeTools: [{ name: 'w', description: 'w', steps: [{ id: 'a', type: 'tool', tool: 'wiki.find', ...settings }] }],
});

const ROWS: readonly Row[] = [
  {
    name: 'oidc without its block',
    block: { incomingAuth: { type: 'oidc' } },
    message: "oidc must be set when type is 'oidc'",
  },
  {
    name: 'a block of oidc that its type does not name',
    block: { incomingAuth: { type: 'anonymous', oidc: OIDC } },
    message: "oidc must be set when type is 'oidc', and must not be set otherwise",
  },
  {
    name: 'oidc without an audience',
    block: { incomingAuth: { type: 'oidc', oidc: { issuer: OIDC.issuer, resource: OIDC.resource } } },
    message: 'audience',
  },
  { name: 'an issuer without a scheme', block: oidc({ issuer: 'id.example.com' }), message: 'issuer' },
  {
    name: 'an issuer over plain http',
    block: oidc({ issuer: 'http://id.example.com' }),
    message: 'issuer must be an https URL unless insecureAllowHttp is true',
  },
  {
    name: 'an issuer over plain http, said to be wrong',
    block: oidc({ issuer: 'http://localhost.example.com', insecureAllowHttp: false }),
    message: 'issuer must be an https URL unless insecureAllowHttp is true',
  },
  {
    name: 'keys over plain http',
    block: oidc({ jwksUrl: 'http://id.example.com/keys' }),
    message: 'jwksUrl must be an https URL unless insecureAllowHttp is true',
    fileOnly: 'the model has no jwksUrl',
  },
  {
    name: 'introspection over plain http',
    block: oidc({ introspectionUrl: 'http://id.example.com/introspect' }),
    message: 'introspectionUrl must be an https URL unless insecureAllowHttp is true',
    fileOnly: 'the model has no introspectionUrl',
  },
  {
    name: 'cedar without policies',
    block: { incomingAuth: { type: 'anonymous', authz: { type: 'cedar' } } },
    message: "policies must be set when type is 'cedar'",
  },
  {
    name: 'policies that nothing reads',
    block: {
      incomingAuth: { type: 'anonymous', authz: { type: 'none', policies: ['forbid(principal, action, resource);'] } },
    },
    message: "policies must be set when type is 'cedar', and must not be set otherwise",
  },
  {
    name: 'a circuit that closes at once',
    block: failures({ circuitBreaker: { timeout: '1ms' } }),
    message: 'timeout must be >= 1s',
  },
  ...(['healthCheckInterval', 'healthCheckTimeout', 'statusReportingInterval'] as const).map((field) => ({
    name: `${field} of nothing`,
    block: failures({ [field]: '0s' }),
    message: `${field} must be longer than 0s`,
  })),
  {
    name: 'a timeout of nothing',
    block: { operational: { timeouts: { default: '0s' } } },
    message: 'default must be longer than 0s',
  },
  {
    name: 'a timeout of nothing for one backend',
    block: { operational: { timeouts: { perWorkload: { wiki: '0ms' } } } },
    message: 'a timeout must be longer than 0s',
  },
  {
    name: 'a sampling rate above 1',
    block: { telemetry: { samplingRate: '1.2' } },
    message: 'samplingRate must be a number between 0.0 and 1.0',
  },
  ...[
    ['hybridSearchSemanticRatio', '7', '1.0'],
    ['semanticDistanceThreshold', '9', '2.0'],
  ].map(([field = '', value = '', most]) => ({
    name: `${field} out of bounds`,
    block: { optimizer: { embeddingService: 'http://embeddings:8080', [field]: value } },
    message: `${field} must be a number between 0.0 and ${most}`,
  })),
  {
    name: 'an embedding service that has no time',
    block: { optimizer: { embeddingService: 'http://embeddings:8080', embeddingServiceTimeout: '0s' } },
    message: 'embeddingServiceTimeout must be longer than 0s',
  },
  {
    name: 'priority without an order',
    block: { aggregation: { conflictResolution: 'priority' } },
    message: "conflictResolutionConfig.priorityOrder must be set when conflictResolution is 'priority'",
  },
  {
    name: 'an override that says nothing',
    block: { aggregation: { tools: [{ workload: 'wiki', overrides: { find: {} } }] } },
    message: 'name or description must be set, and not empty',
  },
  ...(['header_injection', 'token_exchange', 'upstream_inject'] as const).map((type) => ({
    name: `${type} without its block`,
    block: strategy({ type }),
    message: `must be set when type is '${type}'`,
  })),
  ...(['bearer_token', 'cloud_sts'] as const).map((type) => ({
    name: `${type} without its block`,
    block: strategy({ type }),
    message: `must be set when type is '${type}'`,
    fileOnly: 'an MCPExternalAuthConfig says it in a cluster',
  })),
  {
    name: 'a strategy that its type does not name',
    block: strategy({ type: 'unauthenticated', tokenExchange: exchange }),
    message: "tokenExchange must be set when type is 'token_exchange', and must not be set otherwise",
  },
  {
    name: 'a header without a value',
    block: strategy({ type: 'header_injection', headerInjection: { headerName: 'X-Key' } }),
    message: 'exactly one of headerValue and headerValueEnv must be set',
  },
  {
    name: 'a header with two values',
    block: strategy({
      type: 'header_injection',
      headerInjection: { headerName: 'X-Key', headerValue: 'a', headerValueEnv: 'KEY' },
    }),
    message: 'exactly one of headerValue and headerValueEnv must be set',
  },
  {
    name: 'a header with a name that cannot be sent',
    block: strategy({ type: 'header_injection', headerInjection: { headerName: 'X Key', headerValue: 'a' } }),
    message: 'headerName',
  },
  {
    name: 'two client secrets',
    block: strategy({
      type: 'token_exchange',
      tokenExchange: { ...exchange, clientSecret: 'a', clientSecretEnv: 'KEY' },
    }),
    message: 'at most one of clientSecret and clientSecretEnv may be set',
  },
  {
    name: 'a role without a way to get it',
    block: strategy({ type: 'cloud_sts', cloudSts: { region: 'eu-central-1', service: 'execute-api' } }),
    message: 'at least one of fallbackRoleArn and roleMappings must be set',
    fileOnly: 'an MCPExternalAuthConfig says it in a cluster',
  },
  {
    name: 'a step of another type',
    block: step({ message: 'sure?' }),
    message: "message must be set when type is 'elicitation', and must not be set otherwise",
  },
  {
    name: 'tries of none',
    block: step({ onError: { action: 'retry' } }),
    message: "retryCount must be at least 1 when action is 'retry'",
  },
];

const ADDRESSES: readonly Row[] = [
  { name: 'a resource that is a name', block: oidc({ resource: 'office' }), message: 'must be an http or https URL' },
  {
    name: 'a resource with a fragment',
    block: oidc({ resource: 'https://office.example.com/mcp#a' }),
    message: 'must be an http or https URL without credentials and a fragment',
  },
  {
    name: 'a collector that is not one',
    block: { telemetry: { endpoint: '::bad::', tracingEnabled: true } },
    message: 'must be host:port, or an http or https URL',
  },
  {
    name: 'an embedding service without a host',
    block: { optimizer: { embeddingService: 'http://[::' } },
    message: 'must be an http or https URL',
  },
  {
    name: 'a token endpoint with a space',
    block: strategy({ type: 'token_exchange', tokenExchange: { tokenUrl: 'https://id.example.com/a token' } }),
    message: 'must be an http or https URL',
  },
  {
    name: 'a backend without a host',
    block: { backends: [{ name: 'wiki', url: 'http:// x', transport: 'sse' }] },
    message: 'must be an http or https URL',
    fileOnly: 'a manifest needs outgoingAuth beside it: see invalid-address-invalid.yaml',
  },
  {
    name: 'Redis without a port',
    block: { sessionStorage: { provider: 'redis', address: '::::', db: 0 } },
    message: 'must be host:port',
    fileOnly: 'spec.sessionStorage has it: see invalid-address-invalid.yaml',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'skep-file-rules-'));
const write = vi.spyOn(process.stderr, 'write');
let written: string[] = [];
const waiting = new Set<() => void>();
beforeAll(() => {
  write.mockImplementation((text) => {
    written.push(String(text));
    for (const look of [...waiting]) look();
    return true;
  });
});
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
  write.mockRestore();
  written = [];
  rmSync(folder, { recursive: true });
});

/** Resolves with the first line of the log that has both texts. */
function logged(...texts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const look = () => {
      const found = written.find((line) => texts.every((text) => line.includes(text)));
      if (found === undefined) return;
      waiting.delete(look);
      resolve(found);
    };
    waiting.add(look);
    look();
  });
}

const GOOD = { name: 'office', incomingAuth: { type: 'anonymous' } };

function fileOf(name: string, block: JsonObject): string {
  const file = join(folder, `${name.replaceAll(/\W/g, '-')}.yaml`);
  writeFileSync(file, stringify({ ...GOOD, ...block }));
  return file;
}

const SERVE = { host: '127.0.0.1', port: 0, logLevel: 'info' } as const;

async function refusal(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof Failure) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

const ALL = [...ROWS, ...ADDRESSES];

describe.each(ALL)('$name', ({ name, block, message, fileOnly }) => {
  it(fileOnly === undefined ? 'is refused in a manifest' : `is not possible in a manifest: ${fileOnly}`, () => {
    if (fileOnly !== undefined) return;
    const kind = KINDS.find((each) => each.kind === 'VirtualMCPServer');
    if (kind === undefined) throw new Error('no such kind');
    const path = join(folder, 'manifest.yaml');
    const config = { groupRef: 'tools', ...block };
    const spec = { incomingAuth: { type: 'anonymous' }, config };
    const resource = {
      apiVersion: 'toolhive.stacklok.dev/v1alpha1',
      kind: kind.kind,
      metadata: { name: 'office', namespace: 'a' },
      spec,
    };
    const group = {
      apiVersion: resource.apiVersion,
      kind: 'MCPGroup',
      metadata: { name: 'tools', namespace: 'a' },
      spec: {},
    };
    writeFileSync(path, `${stringify(resource)}---\n${stringify(group)}`);
    const { problems } = readFixture(kind, path, 'manifest.yaml');
    const [first] = problems.filter((problem) => problem.includes(' error '));
    expect(first).toContain(message);
  });

  it('is refused in the file, by `skep vmcp validate` and at the start', async () => {
    const file = fileOf(name, block);
    const invalid = expect.stringMatching(/^vmcp-config-invalid /);
    const said = await refusal(() => checkVirtualConfig(createWatchedFiles(), file));
    expect(said).toEqual(invalid);
    expect(said).toContain(message);
    expect(await refusal(async () => stops.push((await serveFile({ ...SERVE, config: file }, {})).stop))).toBe(said);
  });
});

it('an invalid value in a reload leaves the last valid configuration in use', { timeout: 60_000 }, async () => {
  await Promise.all(
    ALL.map(async ({ name, block, message }) => {
      const file = fileOf(`reload ${name}`, { incomingAuth: { type: 'oidc', oidc: OIDC } });
      const running = await serveFile({ ...SERVE, config: file }, {});
      stops.push(running.stop);
      fileOf(`reload ${name}`, block);
      const line = await logged(file, 'the last good configuration stays in use');
      expect(line).toContain('"code":"vmcp-config-invalid"');
      expect(JSON.parse(line).msg).toContain(message);
      expect((await postTo(running.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, {})).status).toBe(401);
    }),
  );
});

import { expect, it } from 'vitest';
import { readVmcpConfig } from './vmcp-config.ts';

const SHORT = `
name: office
backends:
  - {name: wiki, url: 'http://wiki:8080/mcp', transport: streamable-http}
  - {name: mail, url: 'http://mail:8080/mcp', transport: sse}
incomingAuth: {type: oidc, oidc: {issuer: 'https://id.example', audience: office}}
outgoingAuth:
  default: {type: header_injection, headerInjection: {headerName: X-Key, headerValueEnv: KEY}}
  backends:
    mail: {type: token_exchange, tokenExchange: {tokenUrl: 'https://id.example/token', subjectTokenType: id_token}}
operational: {failureHandling: {circuitBreaker: {enabled: true}}}
audit: {enabled: false}
telemetry: {endpoint: 'collector:4318', tracingEnabled: true}
`;

it('fills in parts that authors may leave out', () => {
  expect(readVmcpConfig(SHORT)).toEqual({
    config: {
      name: 'office',
      groupRef: 'office',
      backends: [
        { name: 'wiki', url: 'http://wiki:8080/mcp', transport: 'streamable-http' },
        { name: 'mail', url: 'http://mail:8080/mcp', transport: 'sse' },
      ],
      incomingAuth: {
        type: 'oidc',
        oidc: {
          issuer: 'https://id.example',
          audience: 'office',
          resource: 'http://127.0.0.1:4483/mcp',
          scopes: ['openid'],
          protectedResourceAllowPrivateIp: false,
          jwksAllowPrivateIp: false,
          insecureAllowHttp: false,
        },
        authz: { type: 'none' },
      },
      outgoingAuth: {
        source: 'inline',
        backends: {
          wiki: { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValueEnv: 'KEY' } },
          mail: {
            type: 'token_exchange',
            tokenExchange: {
              tokenUrl: 'https://id.example/token',
              subjectTokenType: 'urn:ietf:params:oauth:token-type:id_token',
            },
          },
        },
      },
      aggregation: {
        conflictResolution: 'prefix',
        conflictResolutionConfig: { prefixFormat: '{workload}_' },
        excludeAllTools: false,
      },
      operational: {
        timeouts: { default: '30s' },
        failureHandling: {
          healthCheckInterval: '30s',
          unhealthyThreshold: 3,
          healthCheckTimeout: '10s',
          statusReportingInterval: '30s',
          partialFailureMode: 'fail',
          circuitBreaker: { enabled: true, failureThreshold: 5, timeout: '60s' },
        },
      },
      telemetry: {
        endpoint: 'collector:4318',
        serviceName: 'office',
        tracingEnabled: true,
        metricsEnabled: false,
        samplingRate: '0.05',
        insecure: false,
        enablePrometheusMetricsPath: false,
        useLegacyAttributes: true,
      },
    },
  });
});

it.each([
  ['https://office.example.com/mcp', 'https://office.example.com/mcp'],
  ['office', 'http://localhost:8080/mcp'],
  ['urn:office', 'http://localhost:8080/mcp'],
])('a token for %s is for the resource %s', (audience, resource) => {
  const text = SHORT.replace('audience: office', `audience: '${audience}'`);
  expect(readVmcpConfig(text, 'http://localhost:8080/mcp')).toMatchObject({
    config: { incomingAuth: { oidc: { audience, resource } } },
  });
});

it.each([
  [
    'compositeToolRefs: [{name: w}]',
    '/compositeToolRefs names resources of a cluster: write the workflows into /compositeTools',
  ],
  [
    'aggregation: {tools: [{workload: wiki, toolConfigRef: {name: t}}]}',
    '/aggregation/tools/0/toolConfigRef names a resource',
  ],
])('refuses references that only a cluster can resolve: %s', (text, fault) => {
  expect(readVmcpConfig(`name: office\nincomingAuth: {type: anonymous}\n${text}\n`)).toEqual({
    fault: expect.stringContaining(fault),
  });
});

it('reports missing parts that have no default', () => {
  expect(readVmcpConfig('name: office\n')).toEqual({
    fault: expect.stringContaining("must have required property 'incomingAuth'"),
  });
});

// Every setting of the gate reaches the proxy's configuration, where it has a story of its own (test/proxy/fields.test.ts).

import { expect, it } from 'vitest';
import type { VmcpConfig } from '../../src/contracts/vmcp-config.ts';
import { gateConfig } from '../../src/main/services/vmcp/gate-config.ts';
import { isObject, type JsonObject } from '../../src/std/json.ts';
import { withSetting } from '../proxy/field-row.ts';
import { configOf } from './world.ts';

const CONFIG: VmcpConfig = configOf(
  {},
  {
    incomingAuth: {
      type: 'oidc',
      oidc: {
        issuer: 'https://id.example',
        audience: 'office',
        resource: 'https://office.example/mcp',
        scopes: ['openid'],
        jwksUrl: 'https://id.example/keys',
        introspectionUrl: 'https://id.example/introspect',
        clientId: 'office',
        caBundlePath: '/ca.pem',
        authTokenFile: '/token',
        jwksAllowPrivateIp: false,
        protectedResourceAllowPrivateIp: false,
        insecureAllowHttp: false,
      },
      authz: { type: 'none' },
    },
    telemetry: {
      endpoint: 'collector:4318',
      serviceName: 'office',
      tracingEnabled: false,
      metricsEnabled: false,
      samplingRate: '0.1',
      headers: { a: 'b' },
      insecure: false,
      enablePrometheusMetricsPath: false,
      environmentVariables: ['A'],
      customAttributes: { a: 'b' },
      useLegacyAttributes: false,
    },
    audit: { enabled: true, component: 'desk', includeRequestData: false, includeResponseData: false, maxDataSize: 0 },
  },
);

const PLACE = { host: '127.0.0.1', port: 0, namespace: 'tests' };

function pointers(block: string, value: unknown): readonly (readonly [string, JsonObject[string]])[] {
  return isObject(value) ? Object.entries(value).map(([key, each]) => [`${block}/${key}`, each ?? null] as const) : [];
}

const SETTINGS = [
  ...pointers('/incomingAuth/oidc', CONFIG.incomingAuth.oidc),
  ...pointers('/telemetry', CONFIG.telemetry),
  ['/audit/component', 'desk'] as const,
  ['/name', 'office'] as const,
];

function asConfig(value: unknown): VmcpConfig {
  return value as VmcpConfig;
}

function plain(config: VmcpConfig): JsonObject {
  return JSON.parse(JSON.stringify(config));
}

it.each(SETTINGS)('%s', (pointer, value) => {
  const other = typeof value === 'boolean' ? !value : typeof value === 'string' ? `${value}0` : undefined;
  const changed = withSetting(plain(CONFIG), pointer, other ?? []);
  expect(gateConfig(asConfig(changed), PLACE)).not.toEqual(gateConfig(CONFIG, PLACE));
});

import { expect, it } from 'vitest';
import { formatVmcpConfig, readVmcpConfig, type VmcpConfig } from './vmcp-config.ts';

const CONFIG: VmcpConfig = {
  name: 'office',
  groupRef: 'tools',
  backends: [{ name: 'weather', url: 'http://weather:8080/mcp', transport: 'streamable-http' }],
  incomingAuth: { type: 'anonymous', authz: { type: 'none' } },
  outgoingAuth: { source: 'discovered', backends: { weather: { type: 'unauthenticated' } } },
  aggregation: {
    conflictResolution: 'prefix',
    conflictResolutionConfig: { prefixFormat: '{workload}_' },
    excludeAllTools: false,
  },
  compositeTools: [
    {
      name: 'outlook',
      steps: [
        { id: 'weather', type: 'tool', tool: 'weather.forecast', arguments: { days: 3, 'on.off': [true, null] } },
      ],
      output: { properties: { now: { type: 'string', value: '{{.steps.weather.output.now}}', default: 'yes' } } },
    },
  ],
  operational: {
    timeouts: { default: '30s' },
    failureHandling: {
      healthCheckInterval: '30s',
      unhealthyThreshold: 3,
      healthCheckTimeout: '10s',
      statusReportingInterval: '30s',
      partialFailureMode: 'fail',
      circuitBreaker: { enabled: false, failureThreshold: 5, timeout: '1m' },
    },
  },
  metadata: { version: '1.0', yes: 'no' },
};

it('a formatted configuration is read without a change', () => {
  expect(readVmcpConfig(formatVmcpConfig(CONFIG))).toEqual({ config: CONFIG });
});

it.each([
  {
    reason: 'a transport that does not exist',
    wrong: { ...CONFIG, backends: [{ ...CONFIG.backends[0], transport: 'stdio' }] },
    reported: '/backends/0/transport',
  },
  { reason: 'an empty name', wrong: { ...CONFIG, name: '' }, reported: '/name' },
  { reason: 'an unknown key of the file', wrong: { ...CONFIG, colour: 'blue' }, reported: '/colour' },
])('a configuration with $reason is never written, and never read', ({ wrong, reported }) => {
  expect(() => formatVmcpConfig(wrong as VmcpConfig)).toThrow(reported);
  expect(readVmcpConfig(JSON.stringify(wrong))).toEqual({ fault: expect.stringContaining(reported) });
});

it.each([
  { reason: 'is empty', text: '', reported: 'the file must hold one document' },
  { reason: 'holds two documents', text: 'a: 1\n---\nb: 2\n', reported: 'the file must hold one document' },
  { reason: 'is not YAML', text: 'a: [1', reported: 'write the missing ]' },
  { reason: 'holds no object', text: 'office', reported: 'the file must be object' },
])('a file that $reason is refused with its own message', ({ text, reported }) => {
  expect(readVmcpConfig(text)).toEqual({ fault: expect.stringContaining(reported) });
});

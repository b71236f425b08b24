// Tests metrics of a virtual server on the port for clients, on a separate port, or on both ports.

import { expect, test } from 'vitest';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { startMember, tool } from './member.ts';
import { configOf, runVirtual } from './world.ts';

const TELEMETRY = {
  ...{ serviceName: 'desk', tracingEnabled: false, metricsEnabled: false, samplingRate: '1', insecure: false },
  ...{ enablePrometheusMetricsPath: true, useLegacyAttributes: false },
};

async function statusAt(port: string | number, path = '/metrics'): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

test.each([
  { metricsOnTransportPort: undefined, shared: 200 },
  { metricsOnTransportPort: true, shared: 200 },
  { metricsOnTransportPort: false, shared: 404 },
])(
  'with prometheusPort and metricsOnTransportPort $metricsOnTransportPort',
  async ({ metricsOnTransportPort, shared }) => {
    const member = await startMember({ tools: [tool('echo')] });
    const prometheusPort = await freePort();
    const telemetry = { ...TELEMETRY, prometheusPort, metricsOnTransportPort };
    const server = await runVirtual(configOf({ member }, { telemetry }), {});
    try {
      expect(await statusAt(prometheusPort)).toBe(200);
      expect(await statusAt(prometheusPort, '/mcp')).toBe(404);
      expect(await statusAt(new URL(server.url).port)).toBe(shared);
    } finally {
      await server.stop();
      await member.close();
    }
    await expect(statusAt(prometheusPort)).rejects.toThrow();
  },
);

// Tests that each setting of a proxy has an effect: a row observes another result if the setting is ignored. Settings
// without a row have a reason.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RUN_CONFIG_SCHEMA, type RunConfig } from '#contracts/run-config.ts';
import { Failure } from '#std/failure.ts';
import type { Json } from '#std/json.ts';
import { type FieldRow, settingsOf, withSetting } from './field-row.ts';
import { SERVICE_ROWS } from './field-rows.ts';
import { CALLER_ROWS } from './field-rows-callers.ts';
import { TELEMETRY_ROWS } from './field-rows-telemetry.ts';
import { type FieldWorld, startFieldWorld } from './field-world.ts';
import { CONFIG } from './world.ts';

/** Reasons of settings without a row: no effect on a proxy, or tests in another file. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  '/group': 'for people and tools: which MCPGroup the resource is in',
  '/image': 'says how the server runs, for people and tools',
  '/cmd_args': 'says how the server runs, for people and tools',
  '/env_vars': 'says how the server runs, for people and tools',
  '/volumes': 'says how the server runs, for people and tools',
  '/permission_profile_name_or_path': 'says how the server runs, for people and tools',
  '/scaling_config/backend_replicas': 'says how many servers there are, for people and tools',
  '/scaling_config/session_redis': 'its stories need two replicas and a store: they are with the relay of sessions',
  '/sleep': 'its stories need pods: test/gateway/proxy/sleep.test.ts',
  '/webhooks': 'their stories need webhooks: test/gateway/proxy/webhooks.test.ts',
  '/audit_config/on_failure':
    'its story needs a full disk: it is with the file of a virtual server, which has the same gate',
  '/embedded_auth_server_config': 'its stories are logins: they are with the authorization server, test/gateway/issuer',
  '/xaa_config':
    'its stories need the id_token of a login: test/gateway/credentials/xaa.test.ts, test/gateway/issuer/xaa-calls.test.ts',
};

const WHOLE = [
  '/xaa_config',
  ...['/embedded_auth_server_config', '/rate_limiting', '/scaling_config/session_redis'],
  // More tests are in test/gateway/proxy/tools-lock.test.ts.
  '/tools_lock',
  '/sleep',
  '/webhooks',
];
const ROWS: readonly FieldRow[] = [...SERVICE_ROWS, ...CALLER_ROWS, ...TELEMETRY_ROWS];

let world: FieldWorld;
beforeAll(async () => {
  world = await startFieldWorld();
  vi.stubEnv('KUBECONFIG', world.attach.cluster.kubeconfigPath);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

test('every setting of the schema has a row or a reason, and no other setting has', () => {
  const known = [...new Set([...ROWS.map(({ field }) => field), ...Object.keys(WITHOUT_EFFECT)])];
  expect(known.toSorted()).toEqual(settingsOf(RUN_CONFIG_SCHEMA, WHOLE).toSorted());
});

function settled(given: FieldRow['value'] | undefined): Json | undefined {
  return typeof given === 'function' ? given(world) : given;
}

async function seen(row: FieldRow, given: FieldRow['value'] | undefined): Promise<unknown> {
  const base = { ...CONFIG, ...row.base?.(world) };
  const config = withSetting(base, row.at ?? row.field, settled(given)) as RunConfig;
  try {
    return await row.see(config, world, row.environment?.(world) ?? {});
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

describe.each(ROWS.map((row) => [row.at ?? row.field, row] as const))('%s', (_name, row) => {
  test('has its effect', async () => {
    expect(await seen(row, row.value)).toEqual(row.expected);
  });

  test('leads to another result if it is ignored', async () => {
    const { ignoredWithinMs: within } = row;
    const ignored = seen(row, row.ignored);
    const late = new Promise((resolve) => {
      if (within !== undefined) setTimeout(() => resolve('nothing came'), within).unref();
    });
    expect(await Promise.race([ignored, late])).not.toEqual(row.expected);
  });
});

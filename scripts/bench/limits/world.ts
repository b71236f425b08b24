// Three processes of `skep proxy` with one configuration, and the Redis that they share.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import { formatRunConfig } from '#contracts/run-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { oidcOf, plainConfig } from '../proxy/configuration.ts';
import { startConfigured } from '../proxy/contestants.ts';
import type { ProxyIssuer } from '../proxy/issuer.ts';
import type { Serving } from '../proxy/serving.ts';
import type { Place } from '../sections.ts';

export interface LimitedWorld {
  readonly place: Place;
  readonly issuer: ProxyIssuer;
  readonly backendPort: number;
  readonly redisAddress: string;
}

export interface Replica extends Serving {
  readonly metricsPort: number;
}

const REPLICAS = 3;

export function startReplicas(world: LimitedWorld, name: string, limits: RateLimitFields): Promise<Replica[]> {
  return Promise.all(Array.from({ length: REPLICAS }, (_, index) => startReplica(world, name, index, limits)));
}

async function startReplica(
  { place, issuer, backendPort, redisAddress }: LimitedWorld,
  name: string,
  index: number,
  rate_limiting: RateLimitFields,
): Promise<Replica> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const path = join(place.folder, `${name}-${index}.json`);
  const config = formatRunConfig({
    ...plainConfig({ name, backendPort, port }),
    oidc_config: oidcOf(issuer, port),
    scaling_config: { session_redis: { address: redisAddress, db: 0 } },
    rate_limiting,
    metrics: { host: '127.0.0.1', port: metricsPort },
  });
  writeFileSync(path, config);
  const serving = await startConfigured(place, path, name);
  return { ...serving, metricsPort };
}

/** Calls that the replica counted by itself. */
export async function callsCountedAlone({ metricsPort }: Replica): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^skep_proxy_rate_limits_alone_total\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

// Starts the reconciler's own HTTP listener.

import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import { buildControl, type ControlOptions } from '#reconciler/control/app.ts';
import type { RunMetrics } from '#reconciler/control/metrics.ts';
import type { Secrets } from '#reconciler/control/ports.ts';
import type { HookSubject } from '#reconciler/control/routes/hooks.ts';
import type { MetricsSubject } from '#reconciler/control/routes/metrics.ts';
import { systemClock } from '../../clock.ts';
import { addressOf, type HttpConfig } from '../../config/http.ts';
import { readSecretFile } from '../../config/secret-file.ts';
import { listen } from '../../listen.ts';
import { watchUsage } from '../../process-usage.ts';

export interface ControlListener {
  readonly url: string;
  /** Waits for requests in flight, and closes the listener. */
  stop(): Promise<void>;
}

/** Data that the listener serves. */
export interface ControlSubject
  extends Pick<ControlOptions, 'vitals' | 'trigger' | 'runs' | 'fleet' | 'actions' | 'snapshot'> {
  readonly metrics: MetricsSubject['metrics'] & Pick<RunMetrics, 'webhook'>;
  /** Sources of skep.yaml, which webhooks name. */
  readonly sources: HookSubject['sources'];
}

/** Throws Failure `listen-failed`. */
export async function startControl(
  { address, tokenFile, operatorTokenFile, webhookSecretFile, login }: HttpConfig,
  { openOutbound }: { readonly openOutbound: () => Outbound },
  subject: ControlSubject,
  logger: Logger,
): Promise<ControlListener> {
  const tokens = secretsOf(tokenFile);
  const secrets = secretsOf(webhookSecretFile);
  const watch = watchUsage();
  const { now, monotonic } = systemClock;
  const { vitals, trigger, runs, fleet, actions, sources, snapshot } = subject;
  const outbound = login && openOutbound();
  const people = login && outbound && (await import('../console/login.ts')).openLogin(login, outbound, logger);
  const app = buildControl({
    login: people,
    random: randomBytes,
    monotonic,
    vitals,
    trigger,
    runs,
    fleet,
    actions,
    hooks: { sources, now, monotonic, counted: subject.metrics.webhook, secrets },
    metrics: { metrics: subject.metrics, usage: watch.usage },
    logger,
    newRequestId: randomUUID,
    tokens,
    operatorTokens: secretsOf(operatorTokenFile),
    snapshot,
  });
  async function stop(): Promise<void> {
    watch.stop();
    await app.close();
    await outbound?.close();
  }
  try {
    return { url: await listen(app, addressOf(address)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function secretsOf(path: string | undefined): Secrets | undefined {
  return path === undefined ? undefined : { values: () => readSecretFile(path) };
}

// Opens the tool search of a virtual server, with its word index, its embedding service and its metrics.

import type { Logger } from 'pino';
import { openWordIndex } from '#adapters/sqlite/word-index.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { createOptimizerMetrics } from '#gateway/virtual-server/optimizer/metrics.ts';
import { createOptimizer, type Optimizer, type OptimizerPorts } from '#gateway/virtual-server/optimizer/optimizer.ts';
import { optimizerSettings } from '#gateway/virtual-server/optimizer/settings.ts';
import type { Environment } from '#std/environment.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { proxyClock } from '../proxy/clock.ts';

export interface OptimizerOptions {
  readonly fetch: OptimizerPorts['fetch'];
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly environment: Environment;
}

/** Variable with the API key of the embedding service. OpenAI's clients read the same variable. */
const API_KEY = 'OPENAI_API_KEY';

export function openOptimizer(
  config: VmcpConfig,
  { fetch, logger, metrics, environment }: OptimizerOptions,
): Optimizer {
  const counted = createOptimizerMetrics(metrics, config.name);
  return createOptimizer(optimizerSettings(config), {
    ...{ fetch, clock: proxyClock, openWords: openWordIndex, found: counted.found },
    apiKey: environment[API_KEY]?.trim() || undefined,
    failed(message) {
      counted.embeddingsFailed();
      const what = 'the embedding service cannot be used, so tools are found only by words';
      logger.warn({ code: 'vmcp-embeddings-unavailable', message }, what);
    },
  });
}

// The settings of the optimizer as numbers.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { parseDuration } from '#std/duration.ts';

export interface OptimizerSettings {
  readonly toolsMax: number;
  /** Share of the tools found that meaning finds: 0 to 1. */
  readonly semanticRatio: number;
  /** Tools that are further away in meaning are not found by it: 0 to 2. */
  readonly distanceMax: number;
  /** Absent: tools are found by words alone. */
  readonly service?: { readonly url: string; readonly timeoutMs: number };
}

/** Undefined: clients see all tools. */
export function optimizerSettings({ optimizer }: Pick<VmcpConfig, 'optimizer'>): OptimizerSettings | undefined {
  if (optimizer === undefined) return undefined;
  const { embeddingService: url, embeddingServiceTimeout, maxToolsToReturn } = optimizer;
  const semanticRatio = Math.min(1, Number(optimizer.hybridSearchSemanticRatio));
  const timeoutMs = Math.max(1, parseDuration(embeddingServiceTimeout) ?? 0);
  return {
    toolsMax: maxToolsToReturn,
    semanticRatio,
    distanceMax: Number(optimizer.semanticDistanceThreshold),
    // Where words count alone, no one need ask for meanings.
    ...(url === undefined || semanticRatio === 0 ? {} : { service: { url, timeoutMs } }),
  };
}

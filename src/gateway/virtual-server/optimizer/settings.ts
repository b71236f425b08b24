// Reads the optimizer's settings from the configuration.

import { isEmbeddingHeader } from '#contracts/virtual/optimizer.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { parseDuration } from '#std/duration.ts';
import { configFault } from '../../credentials/config-fault.ts';
import { headerValue, settableHeader } from '../../credentials/header-rules.ts';
import type { Service } from './embedding-client.ts';

export interface OptimizerSettings {
  readonly toolsMax: number;
  /** Share of the results that are found by meaning, from 0 to 1. */
  readonly semanticRatio: number;
  /** Maximum distance of a tool that is found by meaning, from 0 to 2. */
  readonly distanceMax: number;
  /** If absent, tools are found by words only. */
  readonly service?: Service;
}

/**
 * Returns the settings, or undefined if clients see all tools. Throws Failure `credential-config-invalid` for invalid
 * settings.
 */
export function optimizerSettings({ optimizer }: Pick<VmcpConfig, 'optimizer'>): OptimizerSettings | undefined {
  if (optimizer === undefined) return undefined;
  const { embeddingService: url, embeddingServiceTimeout, maxToolsToReturn, embeddingModel: model } = optimizer;
  const isOpenAi = optimizer.embeddingProvider === 'openai';
  if (isOpenAi !== (model !== undefined) || (isOpenAi && url === undefined))
    throw configFault('/optimizer/embeddingProvider', OPENAI_NEEDS);
  const openai = model === undefined ? {} : { openai: { model, headers: serviceHeaders(optimizer) } };
  const semanticRatio = Math.min(1, Number(optimizer.hybridSearchSemanticRatio));
  const timeoutMs = Math.max(1, parseDuration(embeddingServiceTimeout) ?? 0);
  return {
    toolsMax: maxToolsToReturn,
    semanticRatio,
    distanceMax: Number(optimizer.semanticDistanceThreshold),
    // A search by words only needs no service.
    ...(url === undefined || semanticRatio === 0 ? {} : { service: { url, timeoutMs, ...openai } }),
  };
}

const OPENAI_NEEDS = 'openai needs embeddingModel and embeddingService, and another provider has no embeddingModel';

/** Returns the headers. Throws Failure `credential-config-invalid` for a header that must not be set. */
function serviceHeaders({ embeddingHeaders = {} }: NonNullable<VmcpConfig['optimizer']>): Record<string, string> {
  const entries = Object.entries(embeddingHeaders).map(([name, text]): [string, string] => {
    const pointer = '/optimizer/embeddingHeaders';
    const lower = settableHeader(name, pointer);
    const value = headerValue(text);
    if (isEmbeddingHeader(lower)) throw configFault(pointer, `sets ${name}, which the server itself sets`);
    if (value === undefined) throw configFault(pointer, `gives ${name} a value that a header cannot carry`);
    return [lower, value];
  });
  return Object.fromEntries(entries);
}

// Counts searches for tools.

import type { Metrics } from '#std/telemetry/metrics.ts';
import type { ToolMatches } from './find.ts';

export interface OptimizerMetrics {
  found(found: ToolMatches): void;
  embeddingsFailed(): void;
}

export function createOptimizerMetrics(metrics: Metrics, server: string): OptimizerMetrics {
  const searches = metrics.counter(
    'skep_vmcp_tool_searches_total',
    'Calls of find_tool; `search` says whether meanings were used: `hybrid` or `words`.',
    ['server', 'search'],
  );
  const saved = metrics.counter(
    'skep_vmcp_tool_tokens_saved_total',
    'Tokens of definitions that find_tool has kept from clients, a token being four bytes.',
    ['server'],
  );
  const failures = metrics.counter(
    'skep_vmcp_embedding_failures_total',
    'Failures of the embedding service; it is called again after 5 s.',
    ['server'],
  );
  return {
    found({ byMeaning, baselineTokens, returnedTokens }) {
      searches.add([server, byMeaning ? 'hybrid' : 'words']);
      saved.add([server], Math.max(0, baselineTokens - returnedTokens));
    },
    embeddingsFailed: () => failures.add([server]),
  };
}

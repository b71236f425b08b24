// Finds tools: a share of the results by meaning if the embedding service answers, and the other results by words.

import type { Era } from '../../backends/backend.ts';
import type { ListedItem } from '../catalogue/pages.ts';
import type { Meanings, Near } from './meanings.ts';
import type { OptimizerSettings } from './settings.ts';
import { type ToolIndex, tokensOf } from './tool-index.ts';
import { searchTerms } from './words.ts';

export interface ToolSearch {
  readonly description: string;
  readonly keywords: readonly string[];
  readonly era: Era;
  /** Returns whether the caller may call a tool. If absent, the caller may call all tools. */
  readonly permits?: (tool: string) => boolean;
}

export interface ToolMatches {
  /** Definitions of the found tools in the form for the client, from the best match. */
  readonly tools: readonly Buffer[];
  /**
   * Number of tokens of all tools that the caller may call: bytes of JSON divided by four. `returnedTokens` is the
   * number for the found tools.
   */
  readonly baselineTokens: number;
  readonly returnedTokens: number;
  readonly byMeaning: boolean;
  /** Why the search used words alone although an embedding service is configured. */
  readonly note?: string;
}

export async function findTools(
  index: ToolIndex,
  settings: OptimizerSettings,
  meanings: Meanings | undefined,
  query: ToolSearch,
): Promise<ToolMatches> {
  const { description, era } = query;
  const nearest = await meanings?.nearest(description, index.meanings);
  const shown = (position: number) => isShown(index.items[position], query);
  const near = nearest?.ok === true ? nearest.near : undefined;
  const chosen = choose(index, settings, near, query, shown);
  const tools = chosen.flatMap((position) => index.items[position]?.[era] ?? []);
  return {
    tools,
    baselineTokens: baselineOf(index, query),
    returnedTokens: tokensOf(tools),
    byMeaning: near !== undefined,
    ...(nearest?.ok === false ? { note: `Found by words alone: ${nearest.why}.` } : {}),
  };
}

function isShown(item: ListedItem | undefined, { era, permits }: ToolSearch): boolean {
  return item?.[era] !== undefined && (permits === undefined || permits(item.key));
}

/**
 * Returns positions of the found tools. Tools found by meaning come first and make up at most the share
 * `hybridSearchSemanticRatio`. Tools found by words follow.
 */
function choose(
  { words }: ToolIndex,
  { toolsMax, semanticRatio, distanceMax }: OptimizerSettings,
  near: readonly Near[] | undefined,
  { description, keywords }: ToolSearch,
  shown: (position: number) => boolean,
): readonly number[] {
  const semanticMax = near === undefined ? 0 : Math.round(toolsMax * semanticRatio);
  const chosen: number[] = [];
  for (const { position, distance } of near ?? []) {
    if (chosen.length === semanticMax || distance > distanceMax) break;
    if (shown(position)) chosen.push(position);
  }
  const wordsMax = toolsMax - semanticMax;
  const isNew = (position: number) => !chosen.includes(position) && shown(position);
  const terms = wordsMax === 0 ? [] : searchTerms(description, keywords);
  for (let limit = toolsMax; ; limit *= 8) {
    const found = words.search(terms, limit);
    const fit = found.filter(isNew).slice(0, wordsMax);
    // Requests more matches until the caller may call enough of the found tools.
    if (fit.length === wordsMax || found.length < limit) return [...chosen, ...fit];
  }
}

function baselineOf(index: ToolIndex, query: ToolSearch): number {
  const { era, permits } = query;
  // Without policies, the number is equal for all callers and stored in the index.
  if (permits === undefined) return index.tokens[era];
  return tokensOf(index.items.flatMap((item) => (isShown(item, query) ? (item[era] ?? []) : [])));
}

// Finds tools of a list: by meaning as far as the settings and the embedding service allow it, by words for the rest.

import type { Era } from '../../backends/backend.ts';
import type { ListedItem } from '../catalogue/pages.ts';
import type { Meanings, Near } from './meanings.ts';
import type { OptimizerSettings } from './settings.ts';
import { type ToolIndex, tokensOf } from './tool-index.ts';
import { searchTerms } from './words.ts';

export interface Wanted {
  readonly description: string;
  readonly keywords: readonly string[];
  readonly era: Era;
  /** Returns whether the caller may call a tool; if absent, it may call all. */
  readonly permits?: (tool: string) => boolean;
}

export interface Found {
  /** Tools in the form for the client's era, the best first. */
  readonly tools: readonly Buffer[];
  /** Sizes of all tools that the caller may call, and of the found ones: bytes of JSON divided by four. */
  readonly baselineTokens: number;
  readonly returnedTokens: number;
  readonly byMeaning: boolean;
  /** Reason why meanings were not used, although configured. */
  readonly note?: string;
}

export async function findTools(
  index: ToolIndex,
  settings: OptimizerSettings,
  meanings: Meanings | undefined,
  wanted: Wanted,
): Promise<Found> {
  const { description, era } = wanted;
  const nearest = await meanings?.nearest(description, index.meanings);
  const shown = (position: number) => isShown(index.items[position], wanted);
  const near = nearest?.ok === true ? nearest.near : undefined;
  const chosen = choose(index, settings, near, wanted, shown);
  const tools = chosen.flatMap((position) => index.items[position]?.[era] ?? []);
  return {
    tools,
    baselineTokens: baselineOf(index, wanted),
    returnedTokens: tokensOf(tools),
    byMeaning: near !== undefined,
    ...(nearest?.ok === false ? { note: `Found by words alone: ${nearest.why}.` } : {}),
  };
}

function isShown(item: ListedItem | undefined, { era, permits }: Wanted): boolean {
  return item?.[era] !== undefined && (permits === undefined || permits(item.key));
}

/** Returns positions: the share found by meaning first, the rest by words (Document 3, OptimizerConfig). */
function choose(
  { words }: ToolIndex,
  { toolsMax, semanticRatio, distanceMax }: OptimizerSettings,
  near: readonly Near[] | undefined,
  { description, keywords }: Wanted,
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
    // Later matches replace those that the caller may not see.
    if (fit.length === wordsMax || found.length < limit) return [...chosen, ...fit];
  }
}

function baselineOf(index: ToolIndex, wanted: Wanted): number {
  const { era, permits } = wanted;
  // Without policies the number is known.
  if (permits === undefined) return index.tokens[era];
  return tokensOf(index.items.flatMap((item) => (isShown(item, wanted) ? (item[era] ?? []) : [])));
}

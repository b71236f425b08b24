// Defines the settings for assembling lists.

import type { ToolOverride } from '#contracts/tool-override.ts';
import type { ConflictResolution } from '#contracts/virtual-model/aggregate.ts';
import type { Static } from '#std/json-schema.ts';
import type { MemberLists } from './lists.ts';

export type ShownOverride = Static<typeof ToolOverride>;

export interface AggregationRules {
  readonly resolution: ConflictResolution;
  readonly shown: (member: string) => {
    readonly filter: readonly string[];
    readonly overrides: Readonly<Record<string, ShownOverride>>;
    readonly hidden: boolean;
  };
}

export interface OfferingMember {
  readonly name: string;
  readonly lists: MemberLists;
}

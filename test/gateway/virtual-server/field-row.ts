// One setting of a virtual server, and what shows its effect.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Json } from '#std/json.ts';

export interface FieldRow {
  /** A pointer into the schema: `*` is each key of a map, and each item of a list. */
  readonly field: string;
  /** Where it is in the configuration of the story, where that is another pointer. */
  readonly at?: string;
  /** Two values that must be distinguished; undefined takes the setting away. */
  readonly values: readonly [Json | undefined, Json | undefined];
  /** The other settings of the story. */
  readonly base?: Partial<VmcpConfig>;
  readonly see: (config: VmcpConfig) => unknown;
}

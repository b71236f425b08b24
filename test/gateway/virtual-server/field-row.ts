// Defines the row of a test that shows the effect of a virtual server's setting.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Json } from '#std/json.ts';

export interface FieldRow {
  /** Pointer to the setting in the schema. `*` is any key of a map or any item of a list. */
  readonly field: string;
  /** Pointer to the setting in the configuration, if it differs from `field`. */
  readonly at?: string;
  /** Two values that must lead to different results. undefined removes the setting. */
  readonly values: readonly [Json | undefined, Json | undefined];
  /** The other settings of the test. */
  readonly base?: Partial<VmcpConfig>;
  readonly see: (config: VmcpConfig) => unknown;
}

// Defines the shared context of the parts that serve clients without sessions on a server with sessions.

import type { BridgeContext } from '../context.ts';
import type { ToolSchemas } from '../tool-schemas.ts';
import type { Call } from './call-state.ts';
import type { Parking } from './parked.ts';
import type { SessionPool } from './pool.ts';

export interface StatelessClientContext extends BridgeContext {
  readonly pool: SessionPool;
  readonly parking: Parking<Call>;
  readonly schemas: ToolSchemas;
}

// Defines the shared context of the parts that serve clients with sessions on a server without sessions.

import type { BridgeContext } from '../context.ts';
import type { ToolSchemas } from '../tool-schemas.ts';
import type { Discovery } from './discovery.ts';
import type { ClientStates } from './states.ts';

export interface SessionClientContext extends BridgeContext {
  readonly states: ClientStates;
  readonly schemas: ToolSchemas;
  readonly discovery: Discovery;
}

// Renders the environment variables of the MCP server's container: its transport, the author's variables, secrets.

import type { Static } from '#std/schema.ts';
import type { Env } from '../pods/pod.ts';
import { backendPort, isStdio } from './facts.ts';
import type { MCPServerSpec } from './schema.ts';

/** skep's own variables come first in the list, so that the author's variables take precedence. */
export function backendEnv(spec: Static<typeof MCPServerSpec>): readonly Env[] {
  const port = String(backendPort(spec));
  const reported: Env[] = [
    { name: 'MCP_TRANSPORT', value: spec.transport },
    ...(isStdio(spec)
      ? []
      : [
          { name: 'MCP_PORT', value: port },
          { name: 'FASTMCP_PORT', value: port },
          { name: 'MCP_HOST', value: '0.0.0.0' },
        ]),
  ];
  const secrets = (spec.secrets ?? []).map(({ name, key, targetEnvName }): Env => {
    return { name: targetEnvName ?? key, secret: { name, key } };
  });
  return [...reported, ...(spec.env ?? []), ...secrets];
}

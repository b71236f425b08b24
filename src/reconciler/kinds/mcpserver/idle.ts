// Finds fields of an MCPServer that have no effect because of its other fields.

import type { Finding } from '../kind.ts';
import { proxyPortFindings } from '../proxy/port-findings.ts';
import { ownSessionFindings, storeFindings } from '../proxy/session-idle.ts';
import { telemetryFindings } from '../proxy/telemetry-findings.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { isStdio, type Server } from './facts.ts';

export function idleFindings({ spec }: Pick<Server, 'spec'>): readonly Finding[] {
  const { permissionProfile, rateLimiting, sessionStorage, transport } = spec;
  const builtin = permissionProfile?.type === 'builtin' && permissionProfile.key !== undefined;
  return [
    ...storeFindings(sessionStorage),
    ...(transport === 'streamable-http' && rateLimiting === undefined ? ownSessionFindings(sessionStorage) : []),
    ...(builtin ? [fieldWithoutEffect('/spec/permissionProfile/key', 'type is builtin')] : []),
    ...portFindings(spec),
    ...telemetryFindings(spec.telemetry?.openTelemetry, '/spec/telemetry/openTelemetry'),
    ...proxyPortFindings(spec),
    ...(transport === 'stdio' || spec.proxyMode === 'streamable-http'
      ? []
      : [fieldWithoutEffect('/spec/proxyMode', `clients use ${transport}, as the server does`)]),
    ...(spec.tools !== undefined && spec.tools.length > 0 && spec.toolConfigRef !== undefined
      ? [fieldWithoutEffect('/spec/tools', 'toolConfigRef counts instead')]
      : []),
  ];
}

function portFindings(spec: Server['spec']): readonly Finding[] {
  const { mcpPort, targetPort } = spec;
  const ports = [
    ...(mcpPort === undefined ? [] : ['/spec/mcpPort']),
    ...(targetPort === undefined ? [] : ['/spec/targetPort']),
  ];
  if (isStdio(spec))
    return ports.map((pointer) => fieldWithoutEffect(pointer, 'a server on standard streams has no port'));
  const beaten = mcpPort !== undefined && targetPort !== undefined;
  return beaten ? [fieldWithoutEffect('/spec/targetPort', 'mcpPort counts instead')] : [];
}

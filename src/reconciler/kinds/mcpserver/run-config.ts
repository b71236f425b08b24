// Renders an MCPServer into the configuration of its proxy.

import type { RunConfig } from '#contracts/run-config.ts';
import type { View } from '../kind.ts';
import type { ProxyNeeds } from '../proxy/proxy.ts';
import { sessionRedis } from '../proxy/session-password.ts';
import { proxyIdentity, proxySettings } from '../proxy/settings.ts';
import { toolFilter } from '../proxy/tools.ts';
import { backendEnv } from './backend-env.ts';
import {
  backendPort,
  clientTransport,
  isStdio,
  proxyOf,
  type Server,
  serverChildNames,
  sessionPool,
  sleepOf,
} from './facts.ts';

/** Folder in the proxy's container into which a permission profile from a ConfigMap is mounted. */
export const PROFILE_DIRECTORY = '/etc/toolhive/profiles';

/** Writes keys in a fixed order, so that equal servers have equal texts. */
export function runConfig(self: Server, needs: ProxyNeeds, view: View): RunConfig {
  const { spec } = self;
  const proxy = proxyOf(self);
  // An MCPToolConfig takes precedence over the deprecated `tools`.
  const tools = spec.toolConfigRef === undefined ? toolFilter(spec.tools ?? []) : {};
  return {
    ...proxyIdentity(proxy),
    image: spec.image,
    cmd_args: spec.args,
    env_vars: plainEnv(self),
    ...volumes(self),
    ...profile(self),
    transport: spec.transport,
    proxy_mode: clientTransport(spec),
    host: '0.0.0.0',
    port: proxy.port,
    ...target(self),
    ...proxySettings(proxy, needs, view),
    ...tools,
    ...scaling(self),
    rate_limiting: spec.rateLimiting,
    ...pool(self),
    ...sleep(self),
  };
}

function plainEnv({ spec }: Server): Record<string, string> {
  return Object.fromEntries(backendEnv(spec).flatMap((env) => ('value' in env ? [[env.name, env.value]] : [])));
}

function volumes({ spec }: Server): Pick<RunConfig, 'volumes'> {
  if (spec.volumes === undefined || spec.volumes.length === 0) return {};
  return {
    volumes: spec.volumes.map(
      ({ hostPath, mountPath, readOnly }) => `${hostPath}:${mountPath}${readOnly ? ':ro' : ''}`,
    ),
  };
}

function profile({ spec }: Server): Pick<RunConfig, 'permission_profile_name_or_path'> {
  const { permissionProfile } = spec;
  if (permissionProfile === undefined) return {};
  const { type, name, key } = permissionProfile;
  return { permission_profile_name_or_path: type === 'builtin' ? name : `${PROFILE_DIRECTORY}/${key}` };
}

/** Returns the target of the proxy: the Service of the MCP server, or the standard streams of its first pod. */
function target({ name, namespace, spec }: Server): Pick<RunConfig, 'attach' | 'target_host' | 'target_port'> {
  const { backendService, statefulSet } = serverChildNames(name);
  if (isStdio(spec)) return { attach: { namespace, pod: `${statefulSet}-0`, container: 'mcp' } };
  return { target_host: `${backendService}.${namespace}.svc.cluster.local`, target_port: backendPort(spec) };
}

/** Returns the settings of the pool of pods; an empty object if one process serves all sessions. */
function pool(self: Server): Pick<RunConfig, 'stdio'> {
  const pods = sessionPool(self);
  return pods === undefined ? {} : { stdio: { sharing: 'perSession', pods } };
}

function sleep(self: Server): Pick<RunConfig, 'sleep'> {
  const times = sleepOf(self);
  if (times === undefined) return {};
  const { statefulSet, deployment } = serverChildNames(self.name);
  const { afterSeconds, wakeSeconds } = times;
  return {
    sleep: { after_seconds: afterSeconds, wake_seconds: wakeSeconds, stateful_set: statefulSet, deployment },
  };
}

function scaling({ spec }: Server): Pick<RunConfig, 'scaling_config'> {
  const { backendReplicas, sessionStorage } = spec;
  const redis = sessionRedis(sessionStorage);
  if (backendReplicas === undefined && redis === undefined) return {};
  return { scaling_config: { backend_replicas: backendReplicas, session_redis: redis } };
}

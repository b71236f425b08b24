// Objects of a fleet under ToolHive (test/cluster/others-fleet.ts) with images and addresses of this suite, so that their pods run.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { HTTP } from './fleet.ts';
import { IMAGES } from './images.ts';

/** Group of the servers that need a token: a virtual server over them is degraded, because it has none. */
const GUARDED_GROUP = 'mcpgroup-2';
/** Server without authentication, which virtual servers and remote proxies call. */
export const OPEN_SERVER = 'mcpserver-0';
/** ConfigMap with a catalogue. */
export const CATALOGUE = { name: 'catalogue', key: 'registry.json' };

const LISTEN = "require('node:http').createServer((request, response) => response.end()).listen(8080)";
const STEPS = [{ id: 'echo', tool: `${OPEN_SERVER}.echo`, arguments: { message: '{{.params.url}}' } }];

type Change = (spec: JsonObject, object: KubeObject) => JsonObject;

const CHANGES: Readonly<Record<string, Change>> = {
  EmbeddingServer: (spec) => ({ ...spec, image: IMAGES.everything, podTemplateSpec: listening('embedding') }),
  MCPRegistry: (spec) =>
    'configYAML' in spec
      ? { ...spec, volumes: [{ name: 'data', configMap: { name: CATALOGUE.name } }] }
      : { ...spec, registries: [{ name: 'tools', configMapRef: CATALOGUE }] },
  MCPRemoteProxy: (spec, { metadata }) => {
    const url = `http://mcp-${OPEN_SERVER}-proxy.${metadata.namespace}.svc.cluster.local:8080/mcp`;
    const place = 'remoteUrl' in spec ? { remoteUrl: url, allowPrivateEndpoint: true } : { remoteURL: url };
    return { ...spec, ...place, groupRef: inGroup(spec, GUARDED_GROUP) };
  },
  MCPServer: (spec, { metadata }) => {
    const server = { ...spec, image: IMAGES.everything, ...HTTP };
    if (metadata.name !== OPEN_SERVER) return { ...server, groupRef: inGroup(spec, GUARDED_GROUP) };
    const { image, transport, args, mcpPort, env, groupRef } = server as JsonObject & typeof HTTP;
    return { image: image ?? '', transport, args, mcpPort, env, groupRef: groupRef ?? '' };
  },
  VirtualMCPCompositeToolDefinition: (spec) => ({ ...spec, steps: STEPS }),
};

/** Changes that start new pods with images of this suite, in place of the changes of images. */
export const POD_CHANGES: Readonly<Record<string, JsonObject>> = {
  EmbeddingServer: { args: ['--max-concurrent-requests', '8'] },
  MCPServer: { env: [...HTTP.env, { name: 'CHANGED', value: 'new' }] },
};

export function withPods(object: KubeObject): KubeObject {
  const change = CHANGES[object.kind];
  return change === undefined ? object : { ...object, spec: change(object.spec as JsonObject, object) };
}

function inGroup({ groupRef }: JsonObject, name: string): string | JsonObject {
  return typeof groupRef === 'string' ? name : { name };
}

/** The container listens at port 8080. Each request succeeds. Arguments of the resource are not for node. */
function listening(name: string): JsonObject {
  return { spec: { containers: [{ name, command: ['node', '-e', LISTEN, '--'] }] } };
}

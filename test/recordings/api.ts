// The way to an API server over HTTPS as a kubeconfig names it.

import { KubeConfig } from '@kubernetes/client-node';
import { Agent } from 'undici';
import type { Json } from '#std/json.ts';
import type { Answer, Method } from './scenario.ts';

export interface Call {
  readonly method: Method;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly accept?: string;
  /** The text to send. */
  readonly body?: string;
}

export interface Api {
  /** For messages. */
  readonly url: string;
  call(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** The field manager that a server derives from it is `recorder`. */
const USER_AGENT = 'recorder/1';

/** The current context of a kubeconfig file: its server, certificates and token. */
export async function connect(kubeconfig: string): Promise<Api> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${kubeconfig} has no current context`);
  const options: { ca?: string; cert?: string; key?: string; rejectUnauthorized?: boolean; headers?: object } = {};
  await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
  const { ca, cert, key, rejectUnauthorized } = options;
  const agent = new Agent({
    connections: 16,
    connect: { ca, cert, key, rejectUnauthorized: rejectUnauthorized !== false },
  });
  return {
    url: cluster.server,
    call: (call) => send(agent, cluster.server, { ...options.headers } as Record<string, string>, call),
    close: () => agent.close(),
  };
}

async function send(agent: Agent, server: string, credentials: Record<string, string>, call: Call): Promise<Answer> {
  const search = new URLSearchParams(call.query).toString();
  const answer = await agent.request({
    origin: new URL(server).origin,
    path: `${call.path}${search === '' ? '' : `?${search}`}`,
    method: call.method,
    headers: {
      ...credentials,
      'user-agent': USER_AGENT,
      accept: call.accept ?? 'application/json',
      ...(call.contentType === undefined ? {} : { 'content-type': call.contentType }),
    },
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  const text = await answer.body.text();
  return { status: answer.statusCode, headers, body: parseBody(text, call.query.watch !== undefined) };
}

function parseBody(text: string, isWatch: boolean): Json {
  const parsed = isWatch
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map(parseText)
    : [parseText(text)];
  return isWatch && parsed.every((line) => typeof line !== 'string') && parsed.some(isEvent) ? parsed : parseText(text);
}

function isEvent(line: Json): boolean {
  return typeof line === 'object' && line !== null && 'type' in line;
}

function parseText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

// Starts `skep proxy` in this process, records its log and audit, and sends requests to it.

import type { RunConfig } from '#contracts/run-config.ts';
import { createLogger } from '#hosts/log.ts';
import { type RunningProxy, startProxy } from '#hosts/proxy/proxy.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import type { Environment } from '#std/environment.ts';

export interface TestedProxy extends RunningProxy {
  /** URL without a path. */
  readonly origin: string;
  /** Records of the proxy's log. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Events of the proxy's audit. */
  // biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
  readonly audit: readonly any[];
  /** Resolves when the log or the audit contains the text. */
  written(text: string): Promise<void>;
}

export const CONFIG: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'small',
  namespace: 'tests',
  transport: 'streamable-http',
  proxy_mode: 'streamable-http',
  host: '127.0.0.1',
  port: 0,
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'small' },
};

/** Starts a proxy. `readConfig` returns the current configuration, if tests change it. */
export async function runProxy(
  settings: Partial<RunConfig>,
  environment: Environment = {},
  readConfig?: () => RunConfig,
): Promise<TestedProxy> {
  const lines: string[] = [];
  const audit: unknown[] = [];
  const waiting = new Set<() => void>();
  const config = { ...CONFIG, ...settings };
  const write = (line: string) => {
    lines.push(line);
    for (const look of [...waiting]) look();
  };
  const logger = createLogger('info', { write });
  const proxy = await startProxy({
    config,
    readConfig,
    environment,
    files: createWatchedFiles(),
    logger,
    writeAudit(line) {
      audit.push(JSON.parse(line));
      write(line);
    },
  });
  let stopped: Promise<void> | undefined;
  return {
    ...proxy,
    origin: new URL(proxy.url).origin,
    stop() {
      stopped ??= proxy.stop();
      return stopped;
    },
    get log() {
      return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== 'audit_event');
    },
    audit,
    written: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!lines.some((line) => line.includes(text))) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly json: any;
}

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export async function send(
  { url }: { readonly url: string },
  method: string,
  params: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { ...TYPES, ...headers }, body });
  return answered(response);
}

export async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function callTool(
  proxy: { readonly url: string },
  name: string,
  args: object = {},
  headers?: Readonly<Record<string, string>>,
): Promise<Answered> {
  return send(proxy, 'tools/call', { name, arguments: args }, headers);
}

export async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
  return answered(await fetch(url, { headers }));
}

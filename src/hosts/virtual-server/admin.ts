// Opens the admin listener of a virtual server, if its configuration has one.

import type { Logger } from 'pino';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { listenHttp } from '#gateway/proxy/listener.ts';
import { createAdmin } from '#gateway/virtual-server/admin/handle.ts';
import { namedHealthDocument, type Overview, overviewDocument } from '#gateway/virtual-server/admin/overview.ts';
import { VERSION } from '../version.ts';

export interface AdminOptions {
  readonly config: VmcpConfig;
  readonly logger: Logger;
  /** Returns the current state of the virtual server's parts. */
  readonly parts: () => Pick<Overview, 'members' | 'offer' | 'resolution' | 'runs'>;
}

export interface Admin {
  readonly url: string;
  /** Uses names, metadata and workflows of a new configuration. The listener's address stays the same. */
  replace(config: VmcpConfig): void;
  stop(): void;
}

/** Returns undefined if the configuration has no admin listener. Throws Failure `listen-failed`. */
export async function openAdmin({ config, logger, parts }: AdminOptions): Promise<Admin | undefined> {
  if (config.admin === undefined) return undefined;
  const { address, port } = config.admin;
  let current = config;
  function overview(): Overview {
    const { name, metadata, backends, compositeTools: workflows = [] } = current;
    const memberMetadata = Object.fromEntries(backends.map((each) => [each.name, each.metadata]));
    return { ...parts(), name, version: VERSION, metadata, memberMetadata, workflows };
  }
  const documents = {
    '/status': () => overviewDocument(overview()),
    '/api/backends/health': () => namedHealthDocument(overview()),
  };
  const failed = (error: unknown) => logger.error({ err: error }, 'the admin listener failed to answer');
  const listener = await listenHttp({ host: address, port }, createAdmin({ address, documents, failed }), failed);
  logger.info({ url: listener.url }, 'admin listener serves');
  return {
    url: listener.url,
    replace(next) {
      current = next;
    },
    stop: () => listener.destroy(),
  };
}

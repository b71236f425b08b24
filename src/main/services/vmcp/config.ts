// The configuration file of a virtual MCP server: read at start, and what of it is read again.

import { readVmcpConfig, type VmcpConfig } from '../../../contracts/vmcp-config.ts';
import { Failure } from '../../../std/failure.ts';
import { unsupportedSettings } from '../../../vmcp/settings.ts';
import { workflowFaults } from '../../../vmcp/workflows/check.ts';
import type { WatchedFiles } from '../watched-files.ts';

/** Throws Failure `vmcp-config-invalid`, `vmcp-setting-not-supported`, or `secret-file-unreadable`. */
export function readVirtualConfig(files: WatchedFiles, file: string): VmcpConfig {
  const read = readVmcpConfig(files.read(file));
  if ('fault' in read) throw invalid(file, read.fault);
  const { config } = read;
  const [unsupported] = unsupportedSettings(config);
  if (unsupported !== undefined) {
    const { pointer, reason } = unsupported;
    const message = `${file}: ${pointer} is not supported by this release: ${reason}`;
    throw new Failure('vmcp-setting-not-supported', message, { data: { file, pointer } });
  }
  const broken = workflowFaults(config.compositeTools ?? []).find(({ severity }) => severity === 'error');
  if (broken !== undefined) throw invalid(file, `${broken.pointer} ${broken.message}`);
  const provider = unknownProvider(config);
  if (provider !== undefined) throw invalid(file, provider);
  const [twice] = duplicates(config.backends.map(({ name }) => name));
  if (twice !== undefined) throw invalid(file, `/backends has ${twice} twice`);
  return config;
}

/** Document 3, UpstreamInjectConfig. */
function unknownProvider({ authServer, outgoingAuth, backends }: VmcpConfig): string | undefined {
  const providers = authServer?.upstreams.map(({ name }) => name) ?? [];
  for (const { name } of backends) {
    const { type, upstreamInject } = outgoingAuth.backends[name] ?? {};
    if (type !== 'upstream_inject' || providers.includes(upstreamInject?.providerName ?? '')) continue;
    const pointer = `/outgoingAuth/backends/${name}`;
    if (authServer === undefined) return `${pointer}/type is upstream_inject, which needs /authServer`;
    return `${pointer}/upstreamInject/providerName names none of /authServer: ${providers.join(', ')}`;
  }
  return undefined;
}

function duplicates(names: readonly string[]): readonly string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

function invalid(file: string, fault: string): Failure {
  return new Failure('vmcp-config-invalid', `${file}: ${fault}`, { data: { file } });
}

// Reads the configuration file of a proxy and the policies that it names, at the start and after each change.

import { readAuthzConfig } from '#contracts/authz-config.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import { joinLock } from '#contracts/tool-lock/shards.ts';
import { compilePolicies } from '#gateway/gate/policy/compile.ts';
import type { Policies } from '#gateway/gate/policy/decide.ts';
import { primaryProvider } from '#gateway/gate/policy/primary-provider.ts';
import { insecureUrls } from '#gateway/proxy/settings.ts';
import { Failure } from '#std/failure.ts';
import { parseJson } from '#std/json.ts';
import type { WatchedFiles } from '../watched-files.ts';

export interface ProxyConfig {
  readonly config: RunConfig;
  /** Pointers of keys that this release does not know. They are ignored. */
  readonly unknown: readonly string[];
}

/** Throws Failure `proxy-config-invalid` or `secret-file-unreadable`. */
export function readProxyConfig(files: WatchedFiles, file: string): ProxyConfig {
  const read = readRunConfig(files.read(file));
  if ('fault' in read) throw invalid(file, read.fault);
  const [insecure] = insecureUrls(read.config);
  if (insecure !== undefined) {
    throw invalid(file, `${insecure}, which is not https: set /oidc_config/insecure_allow_http to allow it`);
  }
  return { ...read, config: withWholeLock(files, file, read.config) };
}

/**
 * Returns the configuration with the parts of its tools lock joined. Throws if a part is missing or belongs to another
 * tools lock. The proxy then does not start, or continues with the last complete tools lock.
 */
function withWholeLock(files: WatchedFiles, file: string, config: RunConfig): RunConfig {
  if (config.tools_lock?.parts === undefined) return config;
  const joined = joinLock(config.tools_lock, ({ path }) => files.readSettings(path));
  if ('fault' in joined) throw invalid(file, `names an incomplete lock: ${joined.fault}`);
  return { ...config, tools_lock: joined.lock };
}

/**
 * Returns a function that reads the configuration. If the file's text is unchanged, the function returns the same
 * object again.
 */
export function followConfig(files: WatchedFiles, file: string, started: RunConfig): () => RunConfig {
  let text = files.read(file);
  let config = started;
  return () => {
    const now = files.readSettings(file);
    if (now === text) return config;
    const read = readProxyConfig(files, file);
    text = now;
    config = read.config;
    return config;
  };
}

/** Returns undefined if callers may do everything. Throws Failure `policy-file-invalid` with all faults. */
export function readPolicies(
  files: WatchedFiles,
  config: Pick<RunConfig, 'authz_config_path' | 'authz_groups' | 'embedded_auth_server_config'>,
): Policies | undefined {
  const { authz_config_path: path, authz_groups: groups, embedded_auth_server_config: server } = config;
  if (path === undefined) return undefined;
  const read = readAuthzConfig(parseJson(files.read(path)));
  if ('fault' in read) throw policiesInvalid(path, read.fault);
  const { cedar } = read.file;
  const primary = primaryProvider(cedar.primary_upstream_provider, server);
  if (primary.fault !== undefined) throw policiesInvalid(path, primary.fault);
  const own = { ...groups, primary_upstream_provider: primary.provider };
  const compiled = compilePolicies({ ...read.file, cedar: { ...cedar, ...own } });
  if (compiled.ok) return compiled.policies;
  throw policiesInvalid(path, compiled.faults.map(({ message }) => message).join('; '));
}

function invalid(file: string, fault: string): Failure {
  return new Failure('proxy-config-invalid', `${file} ${fault}`, { data: { file } });
}

function policiesInvalid(file: string, fault: string): Failure {
  return new Failure('policy-file-invalid', `${file}: ${fault}`, { data: { file } });
}

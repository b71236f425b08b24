// Reads the configuration file of a virtual server, at the start and after each change.

import { VMCP_MODEL } from '#contracts/virtual/config-model.ts';
import { readVmcpConfig, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { unsupportedSettings } from '#gateway/virtual-server/settings.ts';
import { workflowFaults } from '#gateway/virtual-server/workflows/check.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { compileRules } from '#kubernetes/rules/structural/structural.ts';
import { Failure } from '#std/failure.ts';
import { type JsonObject, pointerToken } from '#std/json.ts';
import { checkHostIssuer } from '../issuer.ts';
import type { WatchedFiles } from '../watched-files.ts';

/**
 * Throws Failure `vmcp-config-invalid`, `issuer-config-invalid`, `vmcp-setting-not-supported` or
 * `secret-file-unreadable`. `ownUrl`: see `readVmcpConfig`.
 */
export function readVirtualConfig(files: WatchedFiles, file: string, ownUrl?: string): VmcpConfig {
  const read = readVmcpConfig(files.read(file), ownUrl);
  if ('fault' in read) throw invalid(file, read.fault);
  const { config } = read;
  const [rule] = brokenRules(config);
  if (rule !== undefined) throw invalid(file, ruleFault(rule));
  const [unsupported] = unsupportedSettings(config);
  if (unsupported !== undefined) {
    const { pointer, reason } = unsupported;
    const message = `${file}: ${pointer} is not supported by this release: ${reason}`;
    throw new Failure('vmcp-setting-not-supported', message, { data: { file, pointer } });
  }
  const broken = workflowFaults(config.compositeTools ?? []).find(({ severity }) => severity === 'error');
  if (broken !== undefined) throw invalid(file, `${broken.pointer} ${broken.message}`);
  checkAuthServer(file, config);
  const provider = unknownProvider(config);
  if (provider !== undefined) throw invalid(file, provider);
  const [twice] = duplicates(config.backends.map(({ name }) => name));
  if (twice !== undefined) throw invalid(file, `/backends has ${twice} twice`);
  return config;
}

let rules: ((value: JsonObject) => readonly Finding[]) | undefined;

/** Returns the broken CEL rules. Manifests with the same fields have the same rules. */
function brokenRules(config: VmcpConfig): readonly Finding[] {
  rules ??= compileRules(plainObject(VMCP_MODEL));
  return rules(plainObject(config));
}

/** Returns the message with the field's pointer in this file in place of its path in manifests. */
function ruleFault({ pointer, message }: Finding): string {
  return message.replace(`${fieldPath(pointer)}:`, pointer);
}

/** Returns the value without undefined fields and without symbols of types. */
function plainObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/**
 * Checks the settings of the authorization server without its keys and secrets. The start of the server checks the
 * settings again, with keys and secrets.
 */
function checkAuthServer(file: string, { authServer, incomingAuth: { oidc } }: VmcpConfig): void {
  if (authServer === undefined) return;
  if (oidc === undefined) throw invalid(file, '/authServer needs /incomingAuth/oidc, which accepts its tokens');
  checkHostIssuer(authServer, oidc.issuer);
  issuerSettings(authServer, oidc.audience);
}

/**
 * Returns a fault if a strategy names an upstream provider that the authorization server does not have (virtual server
 * document, UpstreamInjectConfig).
 */
function unknownProvider({ authServer, outgoingAuth, backends }: VmcpConfig): string | undefined {
  const providers = authServer?.upstreams.map(({ name }) => name) ?? [];
  for (const { name } of backends) {
    const { field, provider } = providerIn(outgoingAuth.backends[name]);
    if (provider === undefined || providers.includes(provider)) continue;
    const pointer = `/outgoingAuth/backends/${pointerToken(name)}/${field}`;
    if (authServer === undefined) return `${pointer} needs /authServer`;
    return `${pointer} names no provider of /authServer: ${providers.join(', ')}`;
  }
  return undefined;
}

/** Returns the upstream provider whose tokens a strategy needs, and the field that names the provider. */
function providerIn({ tokenExchange, cloudSts, upstreamInject, xaa }: Partial<Strategy> = {}) {
  if (xaa !== undefined) return { field: 'xaa/subjectProviderName', provider: xaa.subjectProviderName };
  if (upstreamInject !== undefined)
    return { field: 'upstreamInject/providerName', provider: upstreamInject.providerName };
  const [field, block] = tokenExchange === undefined ? ['cloudSts', cloudSts] : ['tokenExchange', tokenExchange];
  return { field: `${field}/subjectProviderName`, provider: block?.subjectProviderName };
}

function duplicates(names: readonly string[]): readonly string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

function invalid(file: string, fault: string): Failure {
  return new Failure('vmcp-config-invalid', `${file}: ${fault}`, { data: { file } });
}

// Creates the credential that a proxy's configuration describes.

import type { RunConfig } from '#contracts/run-config.ts';
import { bearerToken } from './bearer.ts';
import { configFault } from './config-fault.ts';
import type { Credential } from './credential.ts';
import { tokenExchange } from './exchange/exchange.ts';
import { crossApplicationAccess } from './exchange/xaa.ts';
import { headerForward } from './forward.ts';
import { headerInjection } from './header.ts';
import { inTurn } from './in-turn.ts';
import type { CredentialPorts } from './ports.ts';
import { removeCallerToken } from './remove.ts';
import { cloudSts, removeCallerSignature } from './sts.ts';
import { issuerBundle, trustBundle } from './trust.ts';
import { actAsUpstream, upstreamInjection } from './upstream.ts';

const BLOCKS = [
  'token_exchange_config',
  'header_injection_config',
  'bearer_token_config',
  'aws_sts_config',
  'xaa_config',
] as const;

/**
 * Creates the credential, which is applied to a complete request before it is sent. The steps are: remove the caller's
 * token, apply the credential block, set the headers of `header_forward`, sign the request.
 * A stdio server gets no headers, and therefore no credentials. Throws a Failure if the configuration or one of its
 * secrets is not usable.
 */
export function credentialOf(config: RunConfig, ports: CredentialPorts): Credential {
  checkBlocks(config);
  if (config.transport === 'stdio') return passOn;
  const steps = [
    ...(config.remove_caller_token === true ? [removeCallerToken] : []),
    ...blockSteps(config, ports),
    ...forwardSteps(config, ports),
    ...(config.aws_sts_config === undefined ? [] : [asPerson(ports, cloudSts(ports, config.aws_sts_config))]),
  ];
  const [first, ...others] = steps;
  return first === undefined ? passOn : others.reduce(inTurn, first);
}

const passOn: Credential = ({ headers }) => ({ ok: true, headers });

function checkBlocks(config: RunConfig): void {
  const present = BLOCKS.filter((block) => config[block] !== undefined);
  if (present.length > 1)
    throw configFault(`/${present[1]}`, `cannot be combined with ${present[0]}: name only one of them`);
  if (config.embedded_auth_server_config?.disable_upstream_token_injection !== true) return;
  const needy = present.find((block) => ['token_exchange_config', 'aws_sts_config', 'xaa_config'].includes(block));
  if (needy === undefined) return;
  const pointer = '/embedded_auth_server_config/disable_upstream_token_injection';
  throw configFault(pointer, `cannot be true together with ${needy}, which needs the token of the upstream provider`);
}

/**
 * If the proxy has an authorization server, passes the provider's token to the credential in place of the caller's
 * token. The caller's token is only valid for the proxy.
 */
function asPerson({ upstreamToken }: CredentialPorts, credential: Credential): Credential {
  return upstreamToken === undefined ? credential : actAsUpstream(upstreamToken, credential);
}

function blockSteps(config: RunConfig, ports: CredentialPorts): readonly Credential[] {
  const { token_exchange_config: exchange, header_injection_config: header, bearer_token_config: bearer } = config;
  if (exchange !== undefined) {
    return [asPerson(ports, tokenExchange(trustBundle(ports, exchangeBundle(config)), exchange))];
  }
  if (bearer !== undefined) return [bearerToken(ports, bearer)];
  if (config.aws_sts_config !== undefined) return [removeCallerSignature];
  if (config.xaa_config !== undefined) return [accessStep(config.xaa_config, ports)];
  return [...personSteps(config, ports), ...(header === undefined ? [] : [headerInjection(ports, header)])];
}

function accessStep(block: NonNullable<RunConfig['xaa_config']>, ports: CredentialPorts): Credential {
  const { upstreamIdToken } = ports;
  if (upstreamIdToken === undefined)
    throw configFault('/xaa_config', 'needs embedded_auth_server_config: only a login has an id_token');
  return actAsUpstream(upstreamIdToken, crossApplicationAccess(ports, block, '/xaa_config'));
}

/** Returns steps that keep tokens of the proxy's own authorization server from the MCP server. */
function personSteps(
  { embedded_auth_server_config: server }: RunConfig,
  { upstreamToken }: CredentialPorts,
): readonly Credential[] {
  if (server?.disable_upstream_token_injection === true) return [removeCallerToken];
  return upstreamToken === undefined ? [] : [upstreamInjection(upstreamToken)];
}

function exchangeBundle({ token_exchange_config: exchange, oidc_config: oidc }: RunConfig): string | undefined {
  if (exchange?.ca_bundle_path !== undefined || exchange === undefined) return exchange?.ca_bundle_path;
  const urls = [oidc?.issuer, oidc?.jwks_url, oidc?.introspection_url];
  return issuerBundle({ bundle: oidc?.ca_bundle_path, urls }, exchange.token_url);
}

function forwardSteps(
  { remote_url: remote, header_forward: block }: RunConfig,
  ports: CredentialPorts,
): readonly Credential[] {
  return remote === undefined || block === undefined ? [] : [headerForward(ports, block)];
}

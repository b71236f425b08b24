// What the configuration says about access, as token validation and discovery need it.

import type { JSONWebKeySet } from 'jose';
import type { ServiceAccount } from './claims.ts';

export interface ProviderSettings {
  /** For logs. */
  readonly name: string;
  /** Equal to the `iss` claim of accepted tokens, character by character. */
  readonly issuerUrl: string;
  readonly audience: string;
  /** If set, only tokens of this service account of a cluster are accepted. */
  readonly account?: ServiceAccount;
  /** `typ` of its tokens, beyond those that all have. */
  readonly tokenTypes?: readonly string[];
  /** Where the issuer is in this process: its keys now, one and the same object until there are others. Nothing is fetched. */
  readonly ownKeys?: () => JSONWebKeySet;
  /** If set, discovery is skipped. */
  readonly jwksUrl?: string;
  /**
   * True: issuerUrl is the API server of the cluster, whose tokens may have another issuer. The issuer that its discovery document
   * names is accepted as well, and the keys that it serves itself verify.
   */
  readonly isApiServer?: boolean;
  readonly introspectionUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  /** The secret itself, where no file has it. */
  readonly clientSecret?: string;
  /** PEM file that replaces the trusted roots. */
  readonly caCertPath?: string;
  /** Bearer token for requests to the provider. */
  readonly authTokenFile?: string;
  readonly allowPrivateIP: boolean;
  /** The same for introspectionUrl alone; absent: as allowPrivateIP says. */
  readonly introspectionAllowPrivateIP?: boolean;
}

export interface ResourceSettings {
  readonly resourceUrl: string;
  readonly realm: string;
  readonly scopesSupported: readonly string[];
  readonly resourceDocumentation?: string;
  readonly providers: readonly ProviderSettings[];
}

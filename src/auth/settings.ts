// Defines the settings of token validation and of the protected resource.

import type { JSONWebKeySet } from 'jose';
import type { ServiceAccount } from './claims.ts';

export interface ProviderSettings {
  /** Name of the provider in logs. */
  readonly name: string;
  /** Must be equal to the `iss` claim of accepted tokens. */
  readonly issuerUrl: string;
  readonly audience: string;
  /** If set, only tokens of this service account are accepted. */
  readonly account?: ServiceAccount;
  /** Accepted values of `typ` in addition to the standard values. */
  readonly tokenTypes?: readonly string[];
  /** Returns the keys of an issuer in this process. Returns the same object while the keys are unchanged. */
  readonly ownKeys?: () => JSONWebKeySet;
  /** If set, discovery is skipped. */
  readonly jwksUrl?: string;
  /**
   * If true, issuerUrl is the API server of the cluster. The issuer in its discovery document is accepted too, and the
   * API server's own keys verify the tokens.
   */
  readonly isApiServer?: boolean;
  readonly introspectionUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  /** The secret itself, if no file contains it. */
  readonly clientSecret?: string;
  /** PEM file that replaces the trusted roots. */
  readonly caCertPath?: string;
  /** File with the bearer token for requests to the provider. */
  readonly authTokenFile?: string;
  readonly allowPrivateIP: boolean;
  /** If set, replaces allowPrivateIP for introspectionUrl. */
  readonly introspectionAllowPrivateIP?: boolean;
}

export interface ResourceSettings {
  readonly resourceUrl: string;
  readonly realm: string;
  readonly scopesSupported: readonly string[];
  readonly resourceDocumentation?: string;
  readonly providers: readonly ProviderSettings[];
}

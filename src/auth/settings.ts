// Declares the settings for token validation and discovery.

import type { JSONWebKeySet } from 'jose';
import type { ServiceAccount } from './claims.ts';

export interface ProviderSettings {
  /** Name of the provider in logs. */
  readonly name: string;
  /** Must equal the `iss` claim of accepted tokens, character by character. */
  readonly issuerUrl: string;
  readonly audience: string;
  /** If set, only tokens of this service account of a cluster are accepted. */
  readonly account?: ServiceAccount;
  /** Accepted values of `typ`, in addition to the standard values. */
  readonly tokenTypes?: readonly string[];
  /**
   * If the issuer is in this process, returns its current keys, the same object until they change. Nothing is fetched.
   */
  readonly ownKeys?: () => JSONWebKeySet;
  /** If set, discovery is skipped. */
  readonly jwksUrl?: string;
  /**
   * If true, issuerUrl is the API server of the cluster, whose tokens may have another issuer. The issuer that its
   * discovery document names is accepted as well, and tokens are verified with the keys that it serves itself.
   */
  readonly isApiServer?: boolean;
  readonly introspectionUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  /** The secret itself, if it is not in a file. */
  readonly clientSecret?: string;
  /** PEM file that replaces the trusted roots. */
  readonly caCertPath?: string;
  /** Bearer token for requests to the provider. */
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

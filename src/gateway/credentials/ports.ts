// Defines the ports of credentials to the outside: outbound requests, secrets, the time.

import type { AuthPorts } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { CredentialCode } from './codes.ts';
import type { UpstreamTokenOf } from './upstream.ts';

interface SecretFiles {
  /**
   * Returns the whole current text. It is called for each request, so that a rotated secret has its effect at once, and
   * must cost almost nothing while the file is unchanged. Throws a Failure whose message names the path.
   */
  read(path: string): string;
}

/** Event for the operator that caused no refused request. Never contains a secret. */
interface CredentialNotice {
  readonly code: CredentialCode;
  readonly message: string;
  readonly data: JsonObject;
}

export interface CredentialPorts extends Pick<AuthPorts, 'fetch' | 'clock'> {
  /** Variables that the configuration names, and AWS_ENDPOINT_URL_STS if it is set. */
  readonly environment: Environment;
  readonly secretFiles: SecretFiles;
  readonly notify: (notice: CredentialNotice) => void;
  /** Tokens of an authorization server in this process; absent without an authorization server. */
  readonly upstreamToken?: UpstreamTokenOf;
  /** Finds the id_token of the login at the same authorization server. */
  readonly upstreamIdToken?: UpstreamTokenOf;
}

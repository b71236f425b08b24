// Defines the ports of credentials to the outside: outbound requests, secrets, the time.

import type { AuthPorts } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { CredentialCode } from './codes.ts';
import type { UpstreamTokenOf } from './upstream.ts';

interface SecretFiles {
  /**
   * Returns the whole current text. Called for each request, so that a rotated secret has its effect at once: it must
   * cost next to nothing while the file is unchanged. Throws a Failure whose message names the path.
   */
  read(path: string): string;
}

/** Event that an operator should know although no request was refused because of it. Never contains a secret. */
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
  /** Tokens of an authorization server in this process; absent if there is none. */
  readonly upstreamToken?: UpstreamTokenOf;
  /** The id_token of the login, of the same server. */
  readonly upstreamIdToken?: UpstreamTokenOf;
}

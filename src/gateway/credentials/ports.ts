// Defines the dependencies of credentials: outbound requests, secrets and time.

import type { AuthPorts } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { CredentialCode } from './codes.ts';
import type { UpstreamTokenOf } from './upstream.ts';

interface SecretFiles {
  /**
   * Returns the whole current content. Called for each request, so that a rotated secret takes effect at once. Must
   * cost almost nothing while the file is unchanged. Throws a Failure whose message contains the path.
   */
  read(path: string): string;
}

/** Event for the operator that has not caused a refusal. Never contains a secret. */
interface CredentialNotice {
  readonly code: CredentialCode;
  readonly message: string;
  readonly data: JsonObject;
}

export interface CredentialPorts extends Pick<AuthPorts, 'fetch' | 'clock'> {
  /** Variables that the configuration names, and AWS_ENDPOINT_URL_STS if set. */
  readonly environment: Environment;
  readonly secretFiles: SecretFiles;
  readonly notify: (notice: CredentialNotice) => void;
  /**
   * Finds the person's token at an authorization server in this process. Absent if the process has no authorization
   * server.
   */
  readonly upstreamToken?: UpstreamTokenOf;
  /** Finds the id_token of the person's login at the same authorization server. */
  readonly upstreamIdToken?: UpstreamTokenOf;
}

// Reads one secret that a configuration names, from a file or a variable. A changed file is read again.

import { Failure } from '#std/failure.ts';
import { configFault } from './config-fault.ts';
import type { CredentialPorts } from './ports.ts';

export interface SecretSource {
  /** Pointer to the block in the configuration, for messages. */
  readonly pointer: string;
  readonly variable?: string;
  /** File with the secret. Overrides the variable. */
  readonly file?: string;
}

type SecretPorts = Pick<CredentialPorts, 'environment' | 'secretFiles' | 'notify'>;
/** Converts the text. Returns undefined if the text is not usable. */
type Convert = (text: string) => string | undefined;

/**
 * Returns a function that returns the current secret, converted by `convert`. Ignores white space around the secret.
 * Throws a Failure if the secret is missing or not usable at the start. If the file later becomes unusable, reports
 * this once and keeps the last valid value.
 */
export function createSecret(ports: SecretPorts, source: SecretSource, convert: Convert): () => string {
  const { pointer, variable, file } = source;
  if (file !== undefined) return secretOfFile(ports, file, convert);
  if (variable === undefined) throw configFault(pointer, 'names neither a variable nor a file with its secret');
  const text = ports.environment[variable];
  if (text === undefined) {
    throw new Failure('credential-secret-missing', `${pointer}: the variable ${variable} is not set`, {
      data: { pointer, variable },
    });
  }
  const value = convert(text.trim());
  if (value === undefined) throw unusableSecret(`the variable ${variable}`, { variable });
  return () => value;
}

function secretOfFile(ports: SecretPorts, path: string, convert: Convert): () => string {
  const first = ports.secretFiles.read(path);
  let current = { text: first, value: converted(path, first, convert) };
  let reported: string | undefined;

  function reportStale(fault: Failure): void {
    if (fault.message === reported) return;
    reported = fault.message;
    const message = `${fault.message}; the last good value stays in use`;
    ports.notify({ code: 'credential-secret-stale', message, data: { path, cause: fault.code } });
  }

  return function readSecret() {
    try {
      const text = ports.secretFiles.read(path);
      if (text !== current.text) current = { text, value: converted(path, text, convert) };
      reported = undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      reportStale(error);
    }
    return current.value;
  };
}

function converted(path: string, text: string, convert: Convert): string {
  const value = convert(text.trim());
  if (value === undefined) throw unusableSecret(path, { path });
  return value;
}

function unusableSecret(where: string, data: Record<string, string>): Failure {
  const message = `${where} is empty or contains characters that a header cannot carry`;
  return new Failure('credential-secret-invalid', message, { data });
}

// Defines failures: an external system is unreachable, refuses a request or is broken. Adapters throw Failures. Callers
// that can continue without the result catch them; the outermost level catches all others.

import type { JsonObject } from './json.ts';

export interface FailureOptions {
  /** Facts for readers and programs, such as a URL, status or object id. Never a secret. */
  readonly data?: JsonObject;
  readonly cause?: unknown;
  /** True if the same request may succeed later (busy, timeout, lost connection). */
  readonly retryable?: boolean;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  /** Stable code in kebab case. docs/errors.md has a section for each code. */
  readonly code: string;
  readonly data: JsonObject;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    this.retryable = options.retryable ?? false;
  }
}

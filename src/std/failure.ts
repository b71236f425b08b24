// Defines failures: a system outside this program is unreachable, refuses or is broken. Adapters throw failures. The apply
// step catches the failure of each change; all other failures are caught at the outermost level.

import type { JsonObject } from './json.ts';

export interface FailureOptions {
  /** Facts that a reader or a program needs (URL, status, object id). Never a secret. */
  readonly data?: JsonObject;
  readonly cause?: unknown;
  /** Whether the same request may succeed later (busy, timed out, connection lost). */
  readonly retryable?: boolean;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  /** Stable kebab-case code. Every code has a section in docs/errors.md. */
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

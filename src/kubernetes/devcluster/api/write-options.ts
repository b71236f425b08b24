// Parses the query options of writes.

import type { ApiRequest, WriteOptions } from './request.ts';
import { isTrue } from './route.ts';
import { invalid } from './status.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** Throws a 422 for invalid values. */
export function readWriteOptions(request: ApiRequest, kind: OptionsKind): WriteOptions {
  const { query } = request;
  return {
    dryRun: readDryRun(query.getAll('dryRun'), kind),
    manager: readManager(query.get('fieldManager'), request.userAgent, kind),
    fieldValidation: readFieldValidation(query.get('fieldValidation'), kind),
  };
}

export function readDryRun(values: readonly string[], kind: OptionsKind): boolean {
  const asked = values.filter((value) => value !== '');
  if (asked.some((value) => value !== 'All')) {
    const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "All"`;
    throw invalidOptions(kind, 'FieldValueNotSupported', 'dryRun', message);
  }
  return asked.length > 0;
}

/** If the client sends no manager, uses the first part of its User-Agent. */
function readManager(given: string | null, userAgent: string, kind: OptionsKind): string {
  const manager = given === null || given === '' ? (userAgent.split('/', 1)[0] ?? '') : given;
  const odd = [...manager].findIndex((character) => !/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character));
  if (odd >= 0) {
    const code = [...manager][odd]?.codePointAt(0) ?? 0;
    const what = `invalid character U+${code.toString(16).toUpperCase().padStart(4, '0')} (at position ${odd})`;
    throw invalidOptions(kind, 'FieldValueInvalid', 'fieldManager', `Invalid value: ${goQuoted(manager)}: ${what}`);
  }
  if (manager.length > 128) {
    throw invalidOptions(kind, 'FieldValueTooLong', 'fieldManager', 'Too long: may not be more than 128 bytes');
  }
  return manager;
}

/** Quotes a text as Go does. Control characters become escapes such as `\x01`. */
function goQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(/\\u00([0-9a-f]{2})/g, '\\x$1');
}

/** Parses the options of a patch that is not an apply. `force` is not allowed. */
export function readPatchOptions(request: ApiRequest): WriteOptions {
  if (request.query.get('force') !== null) {
    const message = 'Forbidden: may not be specified for non-apply patch';
    throw invalidOptions('PatchOptions', 'FieldValueForbidden', 'force', message);
  }
  return readWriteOptions(request, 'PatchOptions');
}

function readFieldValidation(given: string | null, kind: OptionsKind): WriteOptions['fieldValidation'] {
  switch (given) {
    case null:
    case '':
    case 'Warn':
      return 'Warn';
    case 'Strict':
    case 'Ignore':
      return given;
    default: {
      const message = `Unsupported value: ${JSON.stringify(given)}: supported values: "", "Ignore", "Strict", "Warn"`;
      throw invalidOptions(kind, 'FieldValueNotSupported', 'fieldValidation', message);
    }
  }
}

/** Parses the options of a server-side apply. Only an apply requires a manager and accepts `force`. */
export function readApplyOptions(request: ApiRequest): WriteOptions & { readonly force: boolean } {
  if ((request.query.get('fieldManager') ?? '') === '') {
    const message = 'Required value: is required for apply patch';
    throw invalidOptions('PatchOptions', 'FieldValueRequired', 'fieldManager', message);
  }
  return { ...readWriteOptions(request, 'PatchOptions'), force: isTrue(request.query.get('force')) };
}

type Reason =
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueTooLong'
  | 'FieldValueRequired'
  | 'FieldValueInvalid';

export function invalidOptions(kind: OptionsKind, reason: Reason, field: string, message: string): Error {
  return invalid({ group: 'meta.k8s.io', plural: '', kind }, '', [{ reason, message, field }]);
}

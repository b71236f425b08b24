// Reads the options that writes take from the query. Knows nothing about objects.

import type { ApiRequest, WriteOptions } from './request.ts';
import { isTrue } from './route.ts';
import { invalid } from './status.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** Throws a 422 for values that these options do not have. */
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

/** A client that names no manager goes by the first part of its User-Agent. */
function readManager(given: string | null, userAgent: string, kind: OptionsKind): string {
  const manager = given === null || given === '' ? (userAgent.split('/', 1)[0] ?? '') : given;
  if (manager.length > 128) {
    throw invalidOptions(kind, 'FieldValueTooLong', 'fieldManager', 'Too long: may not be more than 128 bytes');
  }
  return manager;
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

/** Server-side apply needs a manager, and is the only write that knows `force`. */
export function readApplyOptions(request: ApiRequest): WriteOptions & { readonly force: boolean } {
  if ((request.query.get('fieldManager') ?? '') === '') {
    const message = 'Required value: is required for apply patch';
    throw invalidOptions('PatchOptions', 'FieldValueRequired', 'fieldManager', message);
  }
  return { ...readWriteOptions(request, 'PatchOptions'), force: isTrue(request.query.get('force')) };
}

type Reason = 'FieldValueNotSupported' | 'FieldValueTooLong' | 'FieldValueRequired' | 'FieldValueInvalid';

function invalidOptions(kind: OptionsKind, reason: Reason, field: string, message: string): Error {
  return invalid({ group: 'meta.k8s.io', plural: '', kind }, '', [{ reason, message, field }]);
}

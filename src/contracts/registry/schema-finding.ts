// Says in words why a configuration does not fit its JSON Schema.

import type { ErrorObject } from 'ajv';
import { didYouMean } from '#std/closest.ts';
import { pointerToken } from '#std/json.ts';
import type { ConfigFinding } from './config-finding.ts';

export interface PlacedFinding extends ConfigFinding {
  readonly at?: 'key';
}

export function schemaFinding(error: ErrorObject): PlacedFinding {
  const finding = { code: 'registry-config-schema', severity: 'error', pointer: error.instancePath } as const;
  const { params } = error;
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const pointer = `${error.instancePath}/${pointerToken(name)}`;
      const known = Object.keys(error.parentSchema?.properties ?? {});
      return { ...finding, pointer, at: 'key', message: `unknown field.${didYouMean(name, known)}` };
    }
    case 'required':
      return { ...finding, at: 'key', message: `${params.missingProperty} is missing` };
    case 'enum':
      return { ...finding, message: `must be one of ${[params.allowedValues].flat().join(', ')}` };
    case 'pattern':
      return { ...finding, message: `is malformed. ${error.parentSchema?.description ?? ''}`.trim() };
    default:
      return { ...finding, message: error.message ?? 'is not valid' };
  }
}

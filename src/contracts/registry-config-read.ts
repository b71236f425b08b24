// Reads the text of a registry configuration file. Knows nothing about where the text comes from.

import type { ErrorObject } from 'ajv';
import { didYouMean } from '../std/closest.ts';
import { pointerToken } from '../std/json.ts';
import type { Problem } from '../std/problem.ts';
import { type ReadDocument, readDocuments } from '../std/yaml.ts';
import { REGISTRY_CONFIG_SCHEMA, type RegistryConfigFile } from './registry-config.ts';
import { type ConfigFinding, configFindings } from './registry-config-rules.ts';
import { type RegistryConfig, settleConfig } from './registry-service.ts';
import { schemaCheck } from './schema-check.ts';

export type RegistryConfigResult =
  | { readonly config: RegistryConfig; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

const registryConfigCheck = schemaCheck<RegistryConfigFile>(REGISTRY_CONFIG_SCHEMA);

/** `file`: the name that problems carry. Every problem has file, line and column. */
export function readRegistryConfig(text: string, file: string): RegistryConfigResult {
  const [document, second] = readDocuments(text, file);
  if (document === undefined) return { problems: [syntaxProblem(file, 'The file is empty.')] };
  if (document.problems.length > 0) return { problems: document.problems };
  if (second !== undefined) return { problems: [syntaxProblem(file, 'The file holds more than one document.')] };
  const { value } = document;
  const fits = registryConfigCheck();
  if (!fits(value)) {
    const findings = (fits.errors ?? []).map(schemaFinding);
    return { problems: findings.map((finding) => located(document, finding)) };
  }
  const problems = configFindings(value).map((finding) => located(document, finding));
  if (problems.some(({ severity }) => severity === 'error')) return { problems };
  return { config: settleConfig(value), warnings: problems };
}

function syntaxProblem(file: string, message: string): Problem {
  return { code: 'registry-config-syntax', severity: 'error', message, place: { file, line: 1, column: 1 } };
}

function located(document: ReadDocument, { code, severity, pointer, message, at }: PlacedFinding): Problem {
  const where = pointer === '' ? '' : `${pointer}: `;
  return { code, severity, message: `${where}${message}`, place: document.place(pointer, at ?? 'value'), pointer };
}

interface PlacedFinding extends ConfigFinding {
  readonly at?: 'key';
}

function schemaFinding(error: ErrorObject): PlacedFinding {
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

// Reads the registry service's configuration file, and the environment variables that override its values.

import type { ErrorObject } from 'ajv';
import { didYouMean } from '#std/closest.ts';
import { type Environment, variableOf, withEnvironment } from '#std/environment.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import { REGISTRY_CONFIG_SCHEMA, type RegistryConfigFile, registryConfigCheck } from './config.ts';
import type { ConfigFinding } from './config-finding.ts';
import { configFindings, type SoundConfig } from './config-rules.ts';
import { type RegistryConfig, settleConfig } from './service.ts';

export type RegistryConfigResult =
  | { readonly config: RegistryConfig; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** Prefixes of environment variables. The last prefix takes precedence. ToolHive uses the first prefix. */
const PREFIXES = ['THV_REGISTRY', 'SKEP_REGISTRY'] as const;

/**
 * Returns all problems together. Each problem has file, line and column, or names the variable with the wrong value.
 * `file`: name of the file in problems.
 */
export function readRegistryConfig(text: string, file: string, environment: Environment = {}): RegistryConfigResult {
  const [document, second] = readDocuments(text, file);
  if (document === undefined) return { problems: [syntaxProblem(file, 'The file is empty.')] };
  if (document.problems.length > 0) return { problems: document.problems };
  if (second !== undefined) return { problems: [syntaxProblem(file, 'The file holds more than one document.')] };
  const value = overlaid(document.value, environment);
  const fits = registryConfigCheck();
  const misfits = fits(value) ? [] : (fits.errors ?? []);
  const findings = [...misfits.map(schemaFinding), ...ruleFindings(value, misfits)];
  const problems = findings.map((finding) => located(document, environment, finding)).toSorted(byPlace);
  if (problems.some(({ severity }) => severity === 'error')) return { problems };
  return { config: settleConfig(value as JsonObject & RegistryConfigFile), warnings: problems };
}

function overlaid(value: Json | undefined, environment: Environment): Json | undefined {
  if (!isObject(value)) return value;
  const schema = JSON.parse(JSON.stringify(REGISTRY_CONFIG_SCHEMA));
  return PREFIXES.reduce((below, prefix) => withEnvironment(schema, below, prefix, environment), value);
}

/**
 * Entries that are left out as a whole if a part of them does not fit the schema. A missing part could otherwise cause
 * wrong findings.
 */
const ENTRY = /^\/(registries|auth\/oauth\/providers)\/[0-9]+/;

/** Returns the findings about the parts of the file that fit the schema. */
function ruleFindings(value: Json | undefined, misfits: readonly ErrorObject[]): readonly ConfigFinding[] {
  if (!isObject(value)) return [];
  const sound = structuredClone(value);
  for (const { instancePath, keyword } of misfits) {
    const entry = ENTRY.exec(instancePath)?.[0];
    if (entry !== undefined) unset(sound, entry);
    else if (keyword !== 'required' && keyword !== 'additionalProperties') unset(sound, instancePath);
  }
  const findings = configFindings(sound as SoundConfig);
  // If `auth` does not fit the schema, it is unknown whether providers are missing.
  const isAuthBroken = misfits.some(
    ({ instancePath }) => instancePath === '/auth' || instancePath.startsWith('/auth/'),
  );
  return findings.filter(({ code }) => !isAuthBroken || code !== 'registry-config-providers-missing');
}

function unset(root: JsonObject, pointer: string): void {
  const names = pointer.split('/').slice(1);
  let owner: Json | undefined = root;
  for (const name of names.slice(0, -1)) owner = Array.isArray(owner) ? owner[Number(name)] : child(owner, name);
  const last = names.at(-1) ?? '';
  if (Array.isArray(owner)) delete owner[Number(last)];
  else if (isObject(owner)) delete owner[last];
}

function child(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

/** Sorts by line and column. Problems of environment variables come first. */
function byPlace({ place: a }: Problem, { place: b }: Problem): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

function syntaxProblem(file: string, message: string): Problem {
  return { code: 'registry-config-syntax', severity: 'error', message, place: { file, line: 1, column: 1 } };
}

function located(document: ReadDocument, environment: Environment, finding: PlacedFinding): Problem {
  const { code, severity, pointer, message, at } = finding;
  const variable = PREFIXES.map((prefix) => variableOf(pointer, prefix, environment)).findLast((name) => name);
  if (variable !== undefined) return { code, severity, message: `${variable}: ${message}`, pointer };
  const where = pointer === '' ? '' : `${pointer}: `;
  return { code, severity, message: `${where}${message}`, place: document.place(pointer, at ?? 'value'), pointer };
}

interface PlacedFinding extends ConfigFinding {
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

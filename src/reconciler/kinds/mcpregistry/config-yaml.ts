// Reads the text of `spec.configYAML`, and finds its faults with their places in the text.

import { schemaFinding } from '#contracts/registry/config-read.ts';
import { API_FORMAT } from '#contracts/registry/config-source-rules.ts';
import { type ConfigYaml, configYamlCheck, REFUSED_KEYS } from '#contracts/registry/config-yaml.ts';
import { FORMAT_OF_APIS } from '#contracts/registry/source.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import type { Problem } from '#std/problem.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';

export const CONFIG_PLACE = '/spec/configYAML';

export interface ReadConfig {
  /** Undefined if the text cannot be used. */
  readonly config: ConfigYaml | undefined;
  /** Findings whose pointers lead into the text. */
  readonly findings: readonly Finding[];
}

export function readConfigYaml(text: string): ReadConfig {
  const [document, second] = readDocuments(text, '');
  if (document === undefined) return unreadConfig([invalidKey('', 'has no content')]);
  if (document.problems.length > 0) return unreadConfig(document.problems.map(syntaxFinding));
  if (second !== undefined) return unreadConfig([invalidKey('', 'has more than one document')]);
  const check = configYamlCheck();
  const { value } = document;
  if (!check(value)) return unreadConfig((check.errors ?? []).map((error) => configFinding(schemaFinding(error))));
  return { config: value, findings: configFindings(value) };
}

function unreadConfig(findings: readonly Finding[]): ReadConfig {
  return { config: undefined, findings };
}

/** Returns a finding with the line and column at which the parser found the YAML fault. */
function syntaxFinding({ message, pointer = '', place }: Problem): Finding {
  return invalidKey(pointer, `line ${place?.line}, column ${place?.column} of the text: ${message}`);
}

function configFinding({ pointer, message, at }: ReturnType<typeof schemaFinding>): Finding {
  const reason = REFUSED_KEYS[pointer.replaceAll(/\/\d+(?=\/)/g, '/*')];
  if (at !== 'key' || reason === undefined) return { ...invalidKey(pointer, message), at };
  return { ...invalidKey(pointer, `is not supported: ${reason}`), code: 'field-not-supported', at };
}

function invalidKey(pointer: string, message: string): Finding {
  const at = `${CONFIG_PLACE}${pointer}`;
  return { code: 'config-yaml-invalid', severity: 'error', pointer: at, message: `${fieldPath(at)}: ${message}` };
}

function configFindings(config: ConfigYaml): readonly Finding[] {
  return [
    ...config.sources.flatMap((source, index) => sourceFindings(source, `/sources/${index}`)),
    ...laterNamesakes(config.sources).map((index) =>
      invalidKey(`/sources/${index}/name`, 'another source has this name'),
    ),
    ...laterNamesakes(config.registries).map((index) =>
      invalidKey(`/registries/${index}/name`, 'another registry has this name'),
    ),
    ...config.registries.flatMap((served, index) => servedFindings(config, served, `/registries/${index}`)),
    ...config.sources.flatMap(({ name }, index) => {
      const isServed = config.registries.some(({ sources }) => sources.includes(name));
      return isServed ? [] : [unusedSource(name, `${CONFIG_PLACE}/sources/${index}`)];
    }),
  ];
}

function unusedSource(name: string, pointer: string): Finding {
  const message = `${fieldPath(pointer)} has no effect: no registry has the source "${name}"`;
  return { code: 'field-without-effect', severity: 'warning', pointer, message };
}

function laterNamesakes(named: readonly { readonly name: string }[]): readonly number[] {
  return named.flatMap(({ name }, index) => (named.findIndex((each) => each.name === name) < index ? [index] : []));
}

type ConfigSource = ConfigYaml['sources'][number];
const ORIGINS = ['git', 'api', 'file', 'kubernetes'] as const;

function sourceFindings(source: ConfigSource, pointer: string): readonly Finding[] {
  const given = ORIGINS.filter((origin) => source[origin] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none' : given.join(' and ');
    return [invalidKey(pointer, `exactly one of ${ORIGINS.join(', ')} is needed; there is ${found}`)];
  }
  return [
    ...fileFindings(source, pointer),
    ...pathFindings(source, pointer),
    ...apiFormatFindings(source, pointer),
    ...fleetSourceFindings(source, pointer),
  ];
}

function apiFormatFindings({ api, format }: ConfigSource, pointer: string): readonly Finding[] {
  if (api === undefined || format === undefined || format === FORMAT_OF_APIS) return [];
  return [fieldWithoutEffect(`${CONFIG_PLACE}${pointer}/format`, API_FORMAT)];
}

function fileFindings({ file }: ConfigSource, pointer: string): readonly Finding[] {
  if (file === undefined) return [];
  if ((file.path === undefined) === (file.url === undefined))
    return [invalidKey(`${pointer}/file`, 'exactly one of path and url is needed')];
  if (file.timeout === undefined || file.url !== undefined) return [];
  return [fieldWithoutEffect(`${CONFIG_PLACE}${pointer}/file/timeout`, 'a path is read without a time limit')];
}

/** Applies the CEL rule of `registries[].git.path` to the path. */
function pathFindings({ git }: ConfigSource, pointer: string): readonly Finding[] {
  const parts = git?.path?.split('/') ?? [];
  if (!parts.some((part) => ['', '.', '..'].includes(part))) return [];
  return [invalidKey(`${pointer}/git/path`, 'must be relative, without empty parts and without . and ..')];
}

/** Warns of settings that have no effect on a source of running servers: each run stores all running servers. */
function fleetSourceFindings(source: ConfigSource, pointer: string): readonly Finding[] {
  if (source.kubernetes === undefined) return [];
  return (['format', 'syncPolicy', 'filter'] as const).flatMap((field) =>
    source[field] === undefined
      ? []
      : [fieldWithoutEffect(`${CONFIG_PLACE}${pointer}/${field}`, 'each run stores the servers that run, as they are')],
  );
}

function servedFindings(
  config: ConfigYaml,
  { name: served, sources }: ConfigYaml['registries'][number],
  pointer: string,
): readonly Finding[] {
  const unknown = sources.flatMap((name, index) =>
    config.sources.some((source) => source.name === name)
      ? []
      : [invalidKey(`${pointer}/sources/${index}`, `there is no source "${name}"`)],
  );
  // CEL has the same rule for `registries[].name`. The check of the service's configuration finds other invalid names.
  const named = served.includes('/') ? [invalidKey(`${pointer}/name`, 'must not have a /: it is part of paths')] : [];
  if (sources.length === 1) return [...named, ...unknown];
  const message = 'more than one source is not supported: give each source a registry of its own';
  return [...named, ...unknown, { ...invalidKey(`${pointer}/sources`, message), code: 'field-not-supported' }];
}

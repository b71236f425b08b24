// YAML and JSON blocks of pages, held against what they are: manifests (all of a page together, so that one may name
// another), settings of skep.yaml, settings of registry.yaml. A block that is none of these says why it is not checked.

import { parseAllDocuments } from 'yaml';
import { REGISTRY_CONFIG_SCHEMA } from '#contracts/registry/config.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { CONFIG_SCHEMA } from '#hosts/config/config.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { validate } from '#reconciler/run/validate.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import { schemaFaults } from '../ci/github-schema.ts';
import { directivesOf } from './directives.ts';
import type { Block, Page } from './markdown.ts';

export function faultsOfShown(page: Page): readonly string[] {
  const blocks = page.blocks.filter(({ language }) => language === 'yaml' || language === 'json');
  const manifests = blocks.filter((block) => directivesOf(block, 'not checked').length === 0 && isManifests(block));
  const others = blocks.filter((block) => !manifests.includes(block));
  return [...others.flatMap((block) => faultsOfSettings(page, block)), ...faultsOfManifests(page, manifests)];
}

function faultsOfSettings(page: Page, block: Block): readonly string[] {
  const reported = (text: string) => `${page.path}:${block.line}: ${text}`;
  const [reason] = directivesOf(block, 'not checked');
  if (reason !== undefined) return reason === '' ? [reported('`not checked` needs a reason')] : [];
  if (block.language === 'json') return jsonFaults(block.text).map(reported);
  const [value = null] = valuesOf(block.text);
  // Nothing but comments.
  if (value === null) return [];
  const names = typeof value === 'object' ? Object.keys(value) : [];
  const reader = READERS.find(({ known }) => names.length > 0 && names.every((name) => known.has(name)));
  if (reader === undefined) return [reported('nothing that is known here: say <!-- not checked: what it is -->')];
  return reader.faults(block.text, names).map(reported);
}

interface Reader {
  /** What may stand at the top. */
  readonly known: ReadonlySet<string>;
  readonly faults: (text: string, names: readonly string[]) => readonly string[];
}

const READERS: readonly Reader[] = [
  { known: new Set(Object.keys(CONFIG_SCHEMA.properties)), faults: configFaults },
  { known: new Set(Object.keys(REGISTRY_CONFIG_SCHEMA.properties)), faults: registryFaults },
  {
    known: new Set(['name', 'on', 'permissions', 'concurrency', 'env', 'jobs']),
    faults: (text) => schemaFaults('workflow.yaml', text),
  },
  {
    // kubectl reads the kustomizations that a page writes to files; here a misspelled name is none.
    known: new Set([
      'resources',
      'components',
      'namespace',
      'namePrefix',
      'nameSuffix',
      'patches',
      'images',
      'configMapGenerator',
      'secretGenerator',
    ]),
    faults: () => [],
  },
];

function jsonFaults(text: string): readonly string[] {
  try {
    JSON.parse(text);
    return [];
  } catch {
    // Not one value; a record a line, perhaps.
  }
  return text.split('\n').flatMap((line) => {
    try {
      JSON.parse(line);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
}

/** A part of skep.yaml is read with what it lacks. */
function configFaults(text: string, names: readonly string[]): readonly string[] {
  const sources = names.includes('sources')
    ? ''
    : '\nsources: [{name: fleet, repository: https://git.example.com/fleet.git}]';
  try {
    readConfig({ text: `${text}${sources}`, file: 'skep.yaml', environment: {} });
    return [];
  } catch (error) {
    if (error instanceof Failure) return [error.message];
    throw error;
  }
}

function registryFaults(text: string): readonly string[] {
  const result = readRegistryConfig(text, 'registry.yaml');
  return ('problems' in result ? result.problems : result.warnings).map(formatProblem);
}

function faultsOfManifests(page: Page, blocks: readonly Block[]): readonly string[] {
  const documents = blocks.map(({ line, text }) => ({
    path: `${page.path}:${line}`,
    oid: `${page.path}:${line}`,
    text,
  }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  return problems.filter(({ severity }) => severity === 'error').map(formatProblem);
}

function isManifests({ text }: Block): boolean {
  const values = valuesOf(text);
  return (
    values.length > 0 &&
    values.every((value) => typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value)
  );
}

function valuesOf(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  return 'empty' in documents ? [] : documents.map((document) => document.toJS());
}

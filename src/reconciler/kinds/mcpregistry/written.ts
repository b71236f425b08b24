// Reads the settings of an MCPRegistry, from its fields or from the text of `configYAML`, into one form.

import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import type { Finding } from '../kind.ts';
import { CONFIG_PLACE, readConfigYaml } from './config-yaml.ts';
import type { EffectiveRegistry, WrittenRegistry } from './facts.ts';
import { type Settled, settleConfigYaml } from './settle-config-yaml.ts';

export interface ReadRegistry {
  readonly registry: EffectiveRegistry;
  /** Findings about `configYAML`. */
  readonly findings: readonly Finding[];
  /** Returns the findings or references with pointers into the author's text. */
  placed<T extends { readonly pointer: string }>(found: readonly T[]): readonly T[];
}

const KNOWN = new WeakMap<object, ReadRegistry>();

export function readRegistry(self: WrittenRegistry): ReadRegistry {
  const known = KNOWN.get(self);
  if (known !== undefined) return known;
  const read = self.spec.configYAML === undefined ? ofFields(self) : ofText(self, self.spec.configYAML);
  KNOWN.set(self, read);
  return read;
}

function ofFields(self: WrittenRegistry): ReadRegistry {
  const { spec } = self;
  const { databaseConfig, registries = [], ...rest } = spec;
  const registry = { ...self, written: spec, spec: { ...rest, registries, databaseConfig: ofSecrets(databaseConfig) } };
  return { registry, findings: [], placed: (found) => found };
}

function ofSecrets(database: WrittenRegistry['spec']['databaseConfig']): EffectiveRegistry['spec']['databaseConfig'] {
  if (database === undefined) return undefined;
  const { dbAppUserPasswordSecretRef: app, dbMigrationUserPasswordSecretRef: migration, ...settings } = database;
  return { settings, passwords: { app, migration } };
}

function ofText(self: WrittenRegistry, text: string): ReadRegistry {
  const { spec } = self;
  const { config, findings } = readConfigYaml(text);
  const { databaseConfig: _database, authConfig: _auth, registries: _registries, ...rest } = spec;
  const settled: Settled =
    config === undefined ? { registries: [], findings: [], origins: [] } : settleConfigYaml(config, spec);
  const { registries, databaseConfig, authConfig, origins } = settled;
  return {
    registry: { ...self, written: spec, spec: { ...rest, registries, databaseConfig, authConfig } },
    findings: [...findings, ...settled.findings],
    placed: (found) => found.map((each) => placedIn(origins, each)),
  };
}

/**
 * Replaces the field's pointer by the pointer of the key in the text. Also replaces the field's path at the beginning
 * of the message.
 */
function placedIn<T extends { readonly pointer: string }>(origins: Settled['origins'], found: T): T {
  const pointer = writtenPointer(origins, found.pointer);
  if (pointer === found.pointer) return found;
  const path = `${fieldPath(found.pointer)}: `;
  if (!('message' in found) || typeof found.message !== 'string' || !found.message.startsWith(path))
    return { ...found, pointer };
  return { ...found, pointer, message: `${fieldPath(pointer)}: ${found.message.slice(path.length)}` };
}

/** `origins`: pointers of fields, each with the pointer of its key in the text. The first match applies. */
function writtenPointer(origins: Settled['origins'], pointer: string): string {
  const origin = origins.find(([field]) => pointer === field || pointer.startsWith(`${field}/`));
  return origin === undefined ? pointer : `${CONFIG_PLACE}${origin[1]}${pointer.slice(origin[0].length)}`;
}

// Makes a `Kind` out of functions that are typed by their kind's schema: the only place where a spec changes from plain
// JSON to its type and back. Knows nothing about particular kinds.

import type { RegistryDatabaseTarget } from '../contracts/registry-database.ts';
import type { RegistrySource } from '../contracts/registry-source.ts';
import type { KubeObject } from '../kube/object.ts';
import type { JsonObject } from '../std/json.ts';
import type { Static, TSchema, Validation } from '../std/schema.ts';
import { deprecatedFields } from './deprecated.ts';
import type { Endpoint, Finding, Kind, Observed, PrinterColumn, Reference, Resource, Settings, View } from './kind.ts';

/** A resource as its own kind sees it. */
export interface Typed<Spec extends TSchema> {
  readonly name: string;
  readonly namespace: string;
  readonly spec: Static<Spec>;
  readonly resource: Resource;
}

/** What a kind says of itself; what it leaves out is empty. */
export interface Definition<Spec extends TSchema, Status extends TSchema> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  readonly after: readonly string[];
  readonly schema: { readonly spec: Spec; readonly status: Status; readonly validations?: readonly Validation[] };
  rules?(self: Typed<Spec>): readonly Finding[];
  references?(self: Typed<Spec>): readonly Reference[];
  inspect?(self: Typed<Spec>, view: View): readonly Finding[];
  images?(self: Typed<Spec>): readonly string[];
  sources?(self: Typed<Spec>): readonly RegistrySource[];
  database?(self: Typed<Spec>): RegistryDatabaseTarget | undefined;
  enforces?(self: Typed<Spec>): boolean;
  exposes?(self: Typed<Spec>): readonly Endpoint[];
  children?(self: Typed<Spec>, view: View, settings: Settings): readonly KubeObject[];
  status(self: Typed<Spec>, observed: Observed): Static<Status>;
}

/** The resource with its spec's type. The caller read it, so it has passed the schema that the type comes from. */
function typed<Spec extends TSchema>(resource: Resource): Typed<Spec> {
  const { name, namespace } = resource.metadata;
  const spec: unknown = resource.spec;
  return { name, namespace: namespace ?? 'default', spec: spec as Static<Spec>, resource };
}

function plain(value: unknown): JsonObject {
  return value as JsonObject;
}

/** Closes a definition over its spec's type. */
export function defineKind<Spec extends TSchema, Status extends TSchema>(definition: Definition<Spec, Status>): Kind {
  const { kind, plural, singular, shortNames, categories, description, printerColumns, after } = definition;
  const { spec, status, validations } = definition.schema;
  const schema = { spec: plain(spec), status: plain(status), validations: validations ?? [] };
  return {
    ...{ kind, plural, singular, shortNames, categories, description, printerColumns, after, schema },
    rules: (resource) => [
      ...deprecatedFields(schema.spec, resource.spec, '/spec'),
      ...(definition.rules?.(typed(resource)) ?? []),
    ],
    references: (resource) => definition.references?.(typed(resource)) ?? [],
    inspect: (resource, view) => definition.inspect?.(typed(resource), view) ?? [],
    images: (resource) => definition.images?.(typed(resource)) ?? [],
    sources: (resource) => definition.sources?.(typed(resource)) ?? [],
    database: (resource) => definition.database?.(typed(resource)),
    enforces: (resource) => definition.enforces?.(typed(resource)) ?? false,
    exposes: (resource) => definition.exposes?.(typed(resource)) ?? [],
    children: (resource, view, settings) => definition.children?.(typed(resource), view, settings) ?? [],
    status: (resource, observed) => plain(definition.status(typed(resource), observed)),
  };
}

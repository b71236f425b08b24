// Declares the contract of every custom resource kind. The pipeline uses only `Kind` and `Resource`: a spec's type
// never leaves its kind's folder.

import type { CatalogueState } from '#contracts/catalogue-state.ts';
import type { RegistryConfigFile } from '#contracts/registry/config.ts';
import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import type { Listing } from '#contracts/running-servers.ts';
import type { ConflictResolution } from '#contracts/virtual-model/aggregate.ts';
import type { Shown } from '#contracts/virtual-model/tools.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Validation } from '#std/schema/marks.ts';

export type { Finding } from '#kubernetes/rules/finding.ts';

/** One of our custom resources: parsed, valid against its schema, with defaults. */
export interface Resource extends KubeObject {
  spec: JsonObject;
  status?: JsonObject;
}

/** A name in a resource that refers to another object of the same namespace. */
export interface Reference {
  readonly pointer: string;
  readonly kind: string;
  readonly name: string;
  /** For ConfigMap and Secret: the key that must exist. */
  readonly key?: string;
  /**
   * Optional references keep no children unchanged. `waited`: Kubernetes starts no pod before the object exists, so its
   * absence is a warning. `allowed`: the author allows its absence.
   */
  readonly optional?: 'waited' | 'allowed';
}

/** The address of a resource for clients, its authentication and its tools. */
export interface Endpoint {
  readonly url: string;
  readonly transport: string;
  readonly auth: EndpointAuth;
  readonly offer: Offer;
  /** Absent: the resource requests no entry in the catalogue of running servers. */
  readonly listing?: Listing | undefined;
}

export type EndpointAuth =
  | { readonly type: 'anonymous' }
  /** Accepts tokens of the issuer, limited to the audience and the account (`namespace/name`, `namespace/*`) if set. */
  | { readonly type: 'oidc'; readonly issuer: string; readonly audience?: string; readonly account?: string }
  /** The named settings cannot be read. */
  | { readonly type: 'unknown' };

export type Offer =
  | {
      readonly type: 'server';
      /** Identifies the server, with its tools, in a catalogue. */
      readonly server: { readonly image: string; readonly args?: readonly string[] } | { readonly url: string };
      readonly shown: Shown;
    }
  | {
      readonly type: 'members';
      readonly members: readonly OfferedMember[];
      readonly resolution: ConflictResolution;
      /** Names of its own tools, which are workflows over the members' tools. */
      readonly workflows: readonly string[];
      /** Clients see `find_tool` and `call_tool`, with which they find the other tools. */
      readonly optimizer: boolean;
    };

export interface OfferedMember {
  readonly workload: string;
  /** Kind of the resource with that name in the same namespace; absent: the server is elsewhere, at the URL. */
  readonly kind?: string;
  readonly url: string;
  readonly shown: Shown;
  readonly hidden: boolean;
}

/** An image that a resource runs. */
export interface Image {
  readonly image: string;
  /** Pointer to the field with its name. */
  readonly pointer: string;
}

/** An object of the resource's namespace. */
export type ObjectName = Pick<ResourceId, 'apiVersion' | 'kind' | 'name'>;

/** The objects of the resource's namespace: the desired object if Git declares it, otherwise the live object. */
export interface View {
  find(kind: string, name: string): KubeObject | undefined;
  /** Returns all objects of a kind, by name. */
  all(kind: string): readonly KubeObject[];
  /** Returns the known pods of a workload that has fewer ready pods than declared; absent: no pods are known. */
  readonly pods?: ((kind: string, name: string) => readonly KubeObject[]) | undefined;
}

/** A key of a Secret or ConfigMap. */
interface ObjectKey {
  readonly name: string;
  readonly key: string;
}

/** Settings of the instance's configuration that children depend on. */
export interface Settings {
  readonly apiGroup: string;
  readonly images: { readonly proxy: string; readonly vmcp: string; readonly registry: string };
  readonly pullSecrets: readonly string[];
  /** Settings of every pod, of any kind; absent: no settings. */
  readonly pods?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations: readonly JsonObject[];
    readonly platform: 'kubernetes' | 'openshift';
  };
  /** `catalogue.database` of skep.yaml without passwords, for registries without a database. Absent: the defaults. */
  readonly catalogueDatabase?: NonNullable<RegistryConfigFile['database']> & {
    /** Objects in the namespace of each registry without a database. */
    readonly services?: { readonly passFileSecret?: ObjectKey; readonly caConfigMap?: ObjectKey };
  };
  /** Returns a keyed hash, from which the secret value cannot be guessed. Equal texts have equal digests. */
  digest(text: string): string;
}

/** The issuer of the cluster's service account tokens, or a sentence that says why it is unknown. */
export type TokenIssuer = { readonly issuer: string } | { readonly fault: string };

/** The input of `status()`; the same input gives the same status. */
export interface Observed {
  /** The objects that exist now. */
  readonly view: View;
  /** Reasons why children are kept unchanged: missing references, a rejected image. */
  readonly refusals: readonly Finding[];
  /** Names of kinds that could not be listed: a status must not treat their objects as missing. */
  readonly unlisted?: ReadonlySet<string>;
  /** Errors of this resource's children in this run, one sentence each. */
  readonly failures: readonly string[];
  /** The reason why the resource stays although Git no longer declares it; absent if it is declared. */
  readonly kept?: string;
  /** For MCPRegistry: the state of its sources by name; absent if the store could not be read. */
  readonly catalogue?: CatalogueState;
  /** For MCPRegistry: why its store could not be read or written; absent if that worked or was not tried. */
  readonly storeFailure?: string;
  /** Issuer of service account tokens. Absent: the resource does not accept them, or the cluster was not asked. */
  readonly tokenIssuer?: TokenIssuer | undefined;
  /** RFC 3339; used for transition times only. */
  readonly now: string;
}

/** A Secret with random values, which are created when the Secret is first applied and stay the same after that. */
export interface GeneratedSecret {
  /** The Secret without the values. */
  readonly object: KubeObject;
  /** Number of random bytes of each key, written as base64 text. */
  readonly random: Readonly<Record<string, number>>;
}

/** A setting that is an annotation. */
export interface Annotation {
  /** The whole name: skep.dev/rate-limit. */
  readonly name: string;
  readonly description: string;
  /** Description of the valid values. */
  readonly values: string;
  /** The value if the annotation is missing. */
  readonly fallback: string;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'number' | 'boolean';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Purpose, in one or two sentences. */
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  /** Settings of the kind that are annotations, because the documents have no fields for them. */
  readonly annotations: readonly Annotation[];
  /** Returns a sentence about an unknown field that people know from pods or from ToolHive. `pointer`: RFC 6901. */
  adviceOnField(pointer: string): string | undefined;
  /** The version that an API server stores, and that `skep convert` writes. */
  readonly storedVersion: string;
  /** Kinds whose objects must be applied before this kind's, and deleted after. */
  readonly after: readonly string[];
  /** JSON Schemas (TypeBox) of `spec` and `status`: a field is defined only there. */
  readonly schema: {
    readonly spec: JsonObject;
    readonly status: JsonObject;
    /** CEL rules over the whole object (`self.spec`, `self.metadata.name`), such as rules about its name. */
    readonly validations: readonly Validation[];
  };

  /** Finds fields of a written spec that an API server keeps although no code reads them. */
  unread(written: unknown): readonly Finding[];
  /**
   * Finds mistakes that CEL cannot express. Only called for resources that pass schema and CEL. Deprecated fields are
   * searched in the spec as its author wrote it, without defaults.
   */
  rules(resource: Resource, written: unknown): readonly Finding[];
  references(resource: Resource): readonly Reference[];
  /** Names further objects that children depend on: objects that the instance's configuration names. */
  configured(resource: Resource, settings: Omit<Settings, 'digest'>): readonly ObjectName[];
  /**
   * Finds mistakes in the content of referenced objects (broken JSON in a ConfigMap, a missing key). An error keeps the
   * children unchanged, as a missing reference does. Only called if every non-optional reference was found.
   */
  inspect(resource: Resource, view: View): readonly Finding[];
  /** Returns the images that `enforceServers` checks: of every container that will run, including the author's own. */
  images(resource: Resource): readonly Image[];
  /** Returns registry sources to sync; only an MCPRegistry has sources. */
  sources(resource: Resource): readonly RegistrySource[];
  /** Returns the store of the registry sources, if the resource names a store. */
  database(resource: Resource): RegistryDatabaseTarget | undefined;
  /** Returns whether images of the namespace must be in one of its registries. */
  enforces(resource: Resource): boolean;
  /** Whether clients authenticate with tokens of the cluster's service accounts. */
  acceptsAccounts(resource: Resource, view: View): boolean;
  /** Returns the endpoints for clients, even if references are missing. The resource passes its schema. */
  exposes(resource: Resource, view: View): readonly Endpoint[];
  /**
   * Returns the names of all objects that `children` and `generated` may return, without reading other objects. Two
   * resources may return the same name.
   */
  makes(resource: Resource): readonly ObjectName[];
  /**
   * Returns the objects that this resource consists of, all in its namespace. They are complete except for the owner
   * reference and our labels, which `desire` adds. Only called if every non-optional reference was found.
   */
  children(resource: Resource, view: View, settings: Settings): readonly KubeObject[];
  /** Returns the Secrets with random values of the resource. Called whenever `children` is called. */
  generated(resource: Resource, settings: Settings): readonly GeneratedSecret[];
  /** Returns the whole status subresource. `resource.status` is the current one (for transition times). */
  status(resource: Resource, observed: Observed): JsonObject;
  /** Returns the part of a status that the reconciler writes, without fields that another program writes. */
  written(status: JsonObject): JsonObject;
}

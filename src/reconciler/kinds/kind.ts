// Declares the interface of every custom resource kind. The pipeline uses only `Kind` and `Resource`: the type of a
// spec is not used outside its kind's folder.

import type { CatalogueState } from '#contracts/catalogue-state.ts';
import type { RegistryConfigFile } from '#contracts/registry/config.ts';
import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import type { CatalogueListing } from '#contracts/running-servers.ts';
import type { ConflictResolution } from '#contracts/virtual-model/aggregate.ts';
import type { ShownTools } from '#contracts/virtual-model/tools.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { RuleMark } from '#std/schema/marks.ts';

export type { Finding } from '#kubernetes/rules/finding.ts';

/** An object of one of skep's kinds: parsed, valid against its schema, with defaults. */
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
   * If set, children are applied even if the object is missing. `waited`: pods wait for the object. `allowed`: the
   * author permits that the object is missing.
   */
  readonly optional?: 'waited' | 'allowed';
}

/** URL of a resource for clients, with its authentication and its tools. */
export interface Endpoint {
  readonly url: string;
  readonly transport: string;
  readonly auth: EndpointAuth;
  readonly offer: Offer;
  /** If not set, the resource requests no entry in the catalogue of running servers. */
  readonly listing?: CatalogueListing | undefined;
}

export type EndpointAuth =
  | { readonly type: 'anonymous' }
  /**
   * The issuer's tokens are accepted. If set, `audience` and `account` (`namespace/name` or `namespace/*`) restrict
   * which of these tokens are accepted.
   */
  | { readonly type: 'oidc'; readonly issuer: string; readonly audience?: string; readonly account?: string }
  /** The settings that the resource names cannot be read. */
  | { readonly type: 'unknown' };

export type Offer =
  | {
      readonly type: 'server';
      /** Identity of the server in a catalogue: its image and arguments, or its URL. */
      readonly server: { readonly image: string; readonly args?: readonly string[] } | { readonly url: string };
      readonly shown: ShownTools;
    }
  | {
      readonly type: 'members';
      readonly members: readonly OfferedMember[];
      readonly resolution: ConflictResolution;
      /** Names of the virtual server's own tools, which are workflows over the members' tools. */
      readonly workflows: readonly string[];
      /** If true, clients see only `find_tool` and `call_tool`, with which they search and call all tools. */
      readonly optimizer: boolean;
    };

export interface OfferedMember {
  readonly workload: string;
  /** Kind of the resource with this name in the namespace. Not set if only the URL of the server is known. */
  readonly kind?: string;
  readonly url: string;
  readonly shown: ShownTools;
  readonly hidden: boolean;
}

export interface Image {
  readonly image: string;
  /** Pointer to the field that contains the image. */
  readonly pointer: string;
}

/** An object of the resource's namespace. */
export type ObjectName = Pick<ResourceId, 'apiVersion' | 'kind' | 'name'>;

/** Objects of the resource's namespace: desired objects if Git declares them, live objects otherwise. */
export interface View {
  find(kind: string, name: string): KubeObject | undefined;
  /** Returns all objects of a kind, sorted by name. */
  all(kind: string): readonly KubeObject[];
  /** Returns the known pods of a workload that has fewer ready pods than declared. If not set, no pods are known. */
  readonly pods?: ((kind: string, name: string) => readonly KubeObject[]) | undefined;
}

/** A key of a Secret or ConfigMap. */
interface ObjectKey {
  readonly name: string;
  readonly key: string;
}

/** Settings from the instance's configuration on which children depend. */
export interface KindSettings {
  readonly apiGroup: string;
  readonly images: { readonly proxy: string; readonly vmcp: string; readonly registry: string };
  readonly pullSecrets: readonly string[];
  /** Settings for the pods of every kind. If not set, no settings are added. */
  readonly pods?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations: readonly JsonObject[];
    readonly platform: 'kubernetes' | 'openshift';
  };
  /** `catalogue.database` of skep.yaml without passwords, for registries that declare no database. */
  readonly catalogueDatabase?: NonNullable<RegistryConfigFile['database']> & {
    /** Objects that must exist in the namespace of each registry that declares no database. */
    readonly services?: { readonly passFileSecret?: ObjectKey; readonly caConfigMap?: ObjectKey };
  };
  /** Returns a keyed hash. Equal texts have equal hashes, and readers of the hash cannot guess the secret text. */
  digest(text: string): string;
}

/** Issuer of the cluster's service account tokens, or a sentence that says why the issuer is unknown. */
export type TokenIssuer = { readonly issuer: string } | { readonly fault: string };

/** Input of `status()`, which returns equal statuses for equal input. */
export interface Observed {
  /** Live objects. */
  readonly view: View;
  /** Reasons why children are kept unchanged, such as missing references or a rejected image. */
  readonly refusals: readonly Finding[];
  /** Names of kinds that could not be listed. A status must not treat their objects as missing. */
  readonly unlisted?: ReadonlySet<string>;
  /** Errors of this run about this resource's children, one sentence each. */
  readonly failures: readonly string[];
  /** Reason why the resource still exists although Git no longer declares it. Not set if Git declares it. */
  readonly kept?: string;
  /** For MCPRegistry: states of its sources by name. Not set if the store could not be read. */
  readonly catalogue?: CatalogueState;
  /** For MCPRegistry: reason why the store could not be read or written. Not set if no such error occurred. */
  readonly storeFailure?: string;
  /** Issuer of service account tokens. Not set if no such tokens are accepted, or if the issuer was not requested. */
  readonly tokenIssuer?: TokenIssuer | undefined;
  /** Current time (RFC 3339), used only for times in the status. */
  readonly now: string;
}

/** A Secret with random values. The values are generated when the Secret is first applied, and never change. */
export interface GeneratedSecret {
  /** The Secret without the values. */
  readonly object: KubeObject;
  /** Number of random bytes for each key. The Secret contains the bytes as base64 text. */
  readonly random: Readonly<Record<string, number>>;
}

/** A setting that is an annotation. */
export interface Annotation {
  /** Whole name, such as skep.dev/rate-limit. */
  readonly name: string;
  readonly description: string;
  /** Description of the valid values. */
  readonly values: string;
  /** Value if the annotation is missing. */
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
  /** Purpose of the kind, in one or two sentences. */
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  /** Settings of the kind that are annotations, because ToolHive's documents define no fields for them. */
  readonly annotations: readonly Annotation[];
  /** Returns advice about an unknown field that authors know from pods or from ToolHive. `pointer`: RFC 6901. */
  adviceOnField(pointer: string): string | undefined;
  /** Version that an API server stores, and that `skep convert` writes. */
  readonly storedVersion: string;
  /** Kinds whose objects are applied before this kind's objects, and deleted after them. */
  readonly after: readonly string[];
  /** JSON Schemas (TypeBox) of `spec` and `status`, which are the only definitions of the fields. */
  readonly schema: {
    readonly spec: JsonObject;
    readonly status: JsonObject;
    /** CEL rules over the whole object (`self.spec`, `self.metadata.name`), such as rules about its name. */
    readonly validations: readonly RuleMark[];
  };

  /** Finds fields of the author's spec that an API server stores although no code reads them. */
  unread(written: unknown): readonly Finding[];
  /**
   * Finds mistakes that CEL cannot express, in resources that are valid against schema and CEL. `written`: the author's
   * spec without defaults, in which deprecated fields are searched.
   */
  rules(resource: Resource, written: unknown): readonly Finding[];
  references(resource: Resource): readonly Reference[];
  /** Returns the objects on which children depend because the instance's configuration names them. */
  configured(resource: Resource, settings: Omit<KindSettings, 'digest'>): readonly ObjectName[];
  /**
   * Finds mistakes in the content of referenced objects, such as invalid JSON in a ConfigMap. An error keeps the
   * children unchanged. Called only if every required reference was found.
   */
  inspect(resource: Resource, view: View): readonly Finding[];
  /** Returns the images of all containers, including the author's containers. `enforceServers` checks these images. */
  images(resource: Resource): readonly Image[];
  /** Returns registry sources to sync. Only an MCPRegistry has sources. */
  sources(resource: Resource): readonly RegistrySource[];
  /** Returns the database for the registry sources, if the resource names a database. */
  database(resource: Resource): RegistryDatabaseTarget | undefined;
  /** True if images of the namespace must be listed in one of its registries. */
  enforces(resource: Resource): boolean;
  /** True if clients authenticate with tokens of the cluster's service accounts. */
  acceptsAccounts(resource: Resource, view: View): boolean;
  /** Returns the endpoints for clients, even if references are missing. `resource` is valid against its schema. */
  exposes(resource: Resource, view: View): readonly Endpoint[];
  /**
   * Returns the names of all objects that `children` and `generated` may return, without reading other objects. Two
   * resources may return the same name.
   */
  makes(resource: Resource): readonly ObjectName[];
  /**
   * Returns the objects that the resource consists of. `desire` adds the owner reference and skep's labels. Called only
   * if every required reference was found.
   */
  children(resource: Resource, view: View, settings: KindSettings): readonly KubeObject[];
  /** Returns the resource's Secrets with random values. Called whenever `children` is called. */
  generated(resource: Resource, settings: KindSettings): readonly GeneratedSecret[];
  /** Returns the whole status. `resource.status` is the current status, from which transition times are taken. */
  status(resource: Resource, observed: Observed): JsonObject;
  /** Returns the fields of a status that the reconciler writes, without fields that another program writes. */
  written(status: JsonObject): JsonObject;
}

// The contract that every custom resource kind fulfils. The pipeline sees `Kind` and `Resource` only: a spec's type never
// leaves its kind's folder.

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

/** A custom resource of ours: read, valid against its schema, defaults filled in. */
export interface Resource extends KubeObject {
  spec: JsonObject;
  status?: JsonObject;
}

/** A name written in a resource that means another object of the same namespace. */
export interface Reference {
  readonly pointer: string;
  readonly kind: string;
  readonly name: string;
  /** For ConfigMap and Secret: the key that must exist. */
  readonly key?: string;
  /**
   * Its absence holds nothing: `waited`, for Kubernetes starts no pod before it is there, which is worth a warning;
   * `allowed`, because the author said so.
   */
  readonly optional?: 'waited' | 'allowed';
}

/** Where clients reach a resource, whom it lets in and what it offers. */
export interface Endpoint {
  readonly url: string;
  readonly transport: string;
  readonly auth: EndpointAuth;
  readonly offer: Offer;
  /** Absent: the resource asks for no entry in the catalogue of running servers. */
  readonly listing?: Listing | undefined;
}

export type EndpointAuth =
  | { readonly type: 'anonymous' }
  /** Tokens of the issuer; if there is an audience, only those made for it; if there is an account (`namespace/name`, `namespace/*`), only its own. */
  | { readonly type: 'oidc'; readonly issuer: string; readonly audience?: string; readonly account?: string }
  /** What it names cannot be read. */
  | { readonly type: 'unknown' };

export type Offer =
  | {
      readonly type: 'server';
      /** By which a catalogue may know it, and its tools. */
      readonly server: { readonly image: string; readonly args?: readonly string[] } | { readonly url: string };
      readonly shown: Shown;
    }
  | {
      readonly type: 'members';
      readonly members: readonly OfferedMember[];
      readonly resolution: ConflictResolution;
      /** Names of its own tools, which are workflows over those of the members. */
      readonly workflows: readonly string[];
      /** Clients see `find_tool` and `call_tool`, and find the others by them. */
      readonly optimizer: boolean;
    };

export interface OfferedMember {
  readonly workload: string;
  /** Kind of the resource of that name in the same namespace; absent: it is somewhere else, at the URL. */
  readonly kind?: string;
  readonly url: string;
  readonly shown: Shown;
  readonly hidden: boolean;
}

/** An image that a resource runs. */
export interface Image {
  readonly image: string;
  /** Where it is written. */
  readonly pointer: string;
}

/** An object of the resource's namespace. */
export type ObjectName = Pick<ResourceId, 'apiVersion' | 'kind' | 'name'>;

/** The objects of the resource's namespace: desired ones where Git declares them, living ones otherwise. */
export interface View {
  find(kind: string, name: string): KubeObject | undefined;
  /** All of a kind, by name. */
  all(kind: string): readonly KubeObject[];
  /** Pods of a workload that lacks some, as far as they are known; absent: none are known. */
  readonly pods?: ((kind: string, name: string) => readonly KubeObject[]) | undefined;
}

/** A key of a Secret or ConfigMap. */
interface ObjectKey {
  readonly name: string;
  readonly key: string;
}

/** What the instance's configuration says that children depend on. */
export interface Settings {
  readonly apiGroup: string;
  readonly images: { readonly proxy: string; readonly vmcp: string; readonly registry: string };
  readonly pullSecrets: readonly string[];
  /** What is in every pod, whoever makes it; absent: nothing. */
  readonly pods?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations: readonly JsonObject[];
    readonly platform: 'kubernetes' | 'openshift';
  };
  /** `catalogue.database` of skep.yaml, for registries that name none; its passwords stay out. Absent: the defaults. */
  readonly catalogueDatabase?: NonNullable<RegistryConfigFile['database']> & {
    /** What stands in the namespace of each such registry. */
    readonly services?: { readonly passFileSecret?: ObjectKey; readonly caConfigMap?: ObjectKey };
  };
  /** Stands for content that must not be guessed from what stands for it (Secrets): a keyed hash. Equal texts, equal digests. */
  digest(text: string): string;
}

/** The issuer of the tokens of the cluster's service accounts, as its API server names it; or a sentence that says why it is not known. */
export type TokenIssuer = { readonly issuer: string } | { readonly fault: string };

/** What `status()` may look at; the same input gives the same status. */
export interface Observed {
  /** The objects as they exist now. */
  readonly view: View;
  /** Why children are held, where they are: missing references, a rejected image. Empty when all is well. */
  readonly refusals: readonly Finding[];
  /** Kinds that could not be listed, by name: what the view says of them is not known. A status that asks for none of them is written. */
  readonly unlisted?: ReadonlySet<string>;
  /** Errors of this resource's children in this run, one sentence each. */
  readonly failures: readonly string[];
  /** Why the resource stays although no one wants it any more; absent where it is wanted. */
  readonly kept?: string;
  /** For MCPRegistry: the state of its sources by name; absent where the store could not be read. */
  readonly catalogue?: CatalogueState;
  /** For MCPRegistry: why its store could not be read or written; absent where it could, or no one tried. */
  readonly storeFailure?: string;
  /** If the resource accepts tokens of service accounts. Absent: it does not, or the cluster was not asked. */
  readonly tokenIssuer?: TokenIssuer | undefined;
  /** RFC 3339; used for transition times only. */
  readonly now: string;
}

/** A Secret whose values no one chooses: made at random when it is first applied, and kept from then on. */
export interface GeneratedSecret {
  /** Without the values. */
  readonly object: KubeObject;
  /** How many random bytes each key holds, as base64 text. */
  readonly random: Readonly<Record<string, number>>;
}

/** A setting that is an annotation. */
export interface Annotation {
  /** Whole: skep.dev/rate-limit. */
  readonly name: string;
  readonly description: string;
  /** Which values fit. */
  readonly values: string;
  /** What counts where it is not written. */
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
  /** One or two sentences: what it is for. */
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  /** Its settings that are annotations, because the documents have no fields for them. */
  readonly annotations: readonly Annotation[];
  /** Returns a sentence about an unknown field that people know from pods or from the existing platform. `pointer`: RFC 6901. */
  adviceOnField(pointer: string): string | undefined;
  /** The version that an API server stores, and that `skep convert` writes. */
  readonly storedVersion: string;
  /** Kinds whose objects must be applied before ours, and deleted after. */
  readonly after: readonly string[];
  /** JSON Schemas (TypeBox) of `spec` and `status`: the only place where a field is defined. */
  readonly schema: {
    readonly spec: JsonObject;
    readonly status: JsonObject;
    /** CEL rules over the whole object (`self.spec`, `self.metadata.name`), such as rules about its name. */
    readonly validations: readonly Validation[];
  };

  /** Fields of a written spec that an API server keeps although nothing reads them. */
  unread(written: unknown): readonly Finding[];
  /**
   * What CEL cannot say. Only called for resources that pass schema and CEL. Deprecated fields are looked for in the spec
   * as its author wrote it: a default says nothing.
   */
  rules(resource: Resource, written: unknown): readonly Finding[];
  references(resource: Resource): readonly Reference[];
  /** What children are made of beside that: objects that the instance's configuration names. */
  configured(resource: Resource, settings: Omit<Settings, 'digest'>): readonly ObjectName[];
  /**
   * What is wrong with the content of the objects it refers to (broken JSON in a ConfigMap, a missing key). An error
   * refuses, as a missing reference does. Only called when every non-optional reference was found.
   */
  inspect(resource: Resource, view: View): readonly Finding[];
  /** Images that `enforceServers` checks: of every container that will run, the author's own ones included. */
  images(resource: Resource): readonly Image[];
  /** Registry sources to sync; only MCPRegistry has any. */
  sources(resource: Resource): readonly RegistrySource[];
  /** The store of those sources, where the resource names one of its own. */
  database(resource: Resource): RegistryDatabaseTarget | undefined;
  /** True where images of the namespace must be in one of its registries. */
  enforces(resource: Resource): boolean;
  /** Whether clients authenticate with tokens of the cluster's service accounts. */
  acceptsAccounts(resource: Resource, view: View): boolean;
  /** What clients meet. Called for any resource that passes its schema, whatever became of what it names. */
  exposes(resource: Resource, view: View): readonly Endpoint[];
  /** The name of every object that `children` and `generated` may give, known without anything else: two resources may want the same. */
  makes(resource: Resource): readonly ObjectName[];
  /**
   * The objects this resource becomes, all in its namespace, complete but for what `desire` adds to each: owner
   * reference, our labels. Only called when every non-optional reference was found.
   */
  children(resource: Resource, view: View, settings: Settings): readonly KubeObject[];
  /** Further objects that it becomes. Called when `children` is. */
  generated(resource: Resource, settings: Settings): readonly GeneratedSecret[];
  /** The whole status subresource. `resource.status` is the one that exists now (for transition times). */
  status(resource: Resource, observed: Observed): JsonObject;
  /** The part of a status that the reconciler writes. Fields that another program writes are left out: they stay that program's own. */
  written(status: JsonObject): JsonObject;
}

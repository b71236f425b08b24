// Publishes OpenAPI v3: an index of group-versions with hashes, and one document per group-version.

import { createHash } from 'node:crypto';
import type { JsonObject } from '#std/json.ts';
import { bundledSchema } from '../../rules/schemas/bundled.ts';
import { customDocument } from '../custom/document.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';

interface PublishedDocument {
  /** Upper-case hexadecimal hash of the content. */
  readonly hash: string;
  /** The document as JSON. */
  readonly text: string;
}

export interface OpenApi {
  /** Returns the response to `GET /openapi/v3`. */
  index(types: readonly ResourceType[]): JsonObject;
  /**
   * Returns the response to `GET /openapi/v3/<path>`. `path` is `api/v1` or `apis/<group>/<version>`. undefined if the
   * group-version is not served.
   */
  document(types: readonly ResourceType[], path: string): PublishedDocument | undefined;
}

const INFO = { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.36.3' } };

/** Opens a cache of documents. A document is built again when the kinds of its group-version have changed. */
export function openOpenApi(): OpenApi {
  const written = new Map<string, { readonly types: readonly ResourceType[]; readonly document: PublishedDocument }>();
  const write = (path: string, types: readonly ResourceType[]): PublishedDocument => {
    const known = written.get(path);
    if (known !== undefined && sameTypes(known.types, types)) return known.document;
    const document = publish(types);
    written.set(path, { types, document });
    return document;
  };
  return {
    index: (types) => {
      const paths = [...byPath(types)].map(([path, served]) => {
        const { hash } = write(path, served);
        return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
      });
      return { paths: Object.fromEntries(paths) };
    },
    document: (types, path) => {
      const served = byPath(types).get(path);
      return served === undefined ? undefined : write(path, served);
    },
  };
}

function sameTypes(a: readonly ResourceType[], b: readonly ResourceType[]): boolean {
  return a.length === b.length && a.every((type, index) => type === b[index]);
}

function byPath(types: readonly ResourceType[]): Map<string, ResourceType[]> {
  const paths = new Map<string, ResourceType[]>();
  for (const type of types) {
    const path = type.group === '' ? `api/${type.version}` : `apis/${type.group}/${type.version}`;
    paths.set(path, [...(paths.get(path) ?? []), type]);
  }
  return paths;
}

function publish(types: readonly ResourceType[]): PublishedDocument {
  const [first] = types;
  const bundled = first === undefined || first.custom !== undefined ? undefined : bundledSchema(apiVersionOf(first));
  const { components } = bundled ?? customDocument(types);
  const text = JSON.stringify({ ...INFO, paths: pathsOf(types), components });
  return { hash: createHash('sha512').update(text).digest('hex').toUpperCase(), text };
}

/** Builds only the parts of the paths that clients read: the kind of a PATCH, and its query parameters. */
function pathsOf(types: readonly ResourceType[]): JsonObject {
  return Object.fromEntries(
    types.map((type) => {
      const prefix = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
      const place = type.namespaced ? `${prefix}/namespaces/{namespace}/${type.plural}` : `${prefix}/${type.plural}`;
      const { group, version, kind } = type;
      const patch = {
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': { group, version, kind },
        parameters: PATCH_PARAMETERS,
        responses: { '200': { description: 'OK' } },
      };
      return [`${place}/{name}`, { patch }];
    }),
  );
}

const PATCH_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
  name,
  in: 'query',
  schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
}));

// Matches running servers with catalogue entries, and selects the fields of a server that readers of the catalogue may
// see.

import type { RunningServer } from '#contracts/running-servers.ts';
import { PUBLISHER_PROVIDED } from '#contracts/server-document.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** The fields by which an entry identifies a server. */
interface Identity {
  /** Images of the entry's OCI packages. */
  readonly images: readonly string[];
  /** Arguments of the container. */
  readonly args: readonly string[];
  /** URLs of the entry's remotes. */
  readonly urls: readonly string[];
}

/**
 * Removes address, image, arguments and provenance of a server unless a document describes the server. An entry
 * describes a server with its image if the server's first arguments are the entry's arguments. Removes later arguments.
 */
export function shownServers(
  servers: readonly RunningServer[],
  documents: readonly JsonObject[],
): readonly RunningServer[] {
  const identities = documents.map(identityOf);
  const urls = new Set(identities.flatMap((identity) => identity.urls));
  const byImage = new Map<string, Identity[]>();
  for (const identity of identities) {
    for (const image of new Set(identity.images)) byImage.set(image, [...(byImage.get(image) ?? []), identity]);
  }
  return servers.map(({ image, args = [], remoteUrl, provenance, ...shown }) => {
    if (remoteUrl !== undefined) return urls.has(remoteUrl) ? { ...shown, remoteUrl } : shown;
    const named = (byImage.get(image ?? '') ?? []).filter((entry) => entry.args.every((arg, at) => args[at] === arg));
    if (image === undefined || named.length === 0) return shown;
    const shownArgs = args.slice(0, Math.max(...named.map((entry) => entry.args.length)));
    return { ...shown, image, args: shownArgs, ...(provenance === undefined ? {} : { provenance }) };
  });
}

function identityOf(document: JsonObject): Identity {
  const packages = objectsOf(document.packages).filter(({ registryType }) => registryType === 'oci');
  return {
    images: packages.flatMap(({ identifier }) => (typeof identifier === 'string' ? [identifier] : [])),
    args: argsOf(document),
    urls: objectsOf(document.remotes).flatMap(({ url }) => (typeof url === 'string' ? [url] : [])),
  };
}

/**
 * Returns the arguments in the publisher's blocks, two levels deep under any vendor. If several blocks have arguments,
 * returns the arguments of the first block.
 */
function argsOf({ _meta }: JsonObject): readonly string[] {
  const provided = isObject(_meta) ? _meta[PUBLISHER_PROVIDED] : undefined;
  const blocks = childrenOf(provided).flatMap(childrenOf);
  const lists = blocks.map(({ args }) => (Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : []));
  return lists.find((args) => args.length > 0) ?? [];
}

function childrenOf(value: Json | undefined): readonly JsonObject[] {
  return isObject(value) ? Object.values(value).filter(isObject) : [];
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

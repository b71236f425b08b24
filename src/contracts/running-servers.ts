// What runs of the fleet, for those who read the catalogue: the answer of GET /mcp beside it, which its page reads. `skep
// dev` gives it out of the processes of the machine; in a cluster the reconciler leaves it in the store, and the registry
// service gives it.

import type { ImageProvenance } from './registry/image-provenance.ts';

/** Where GET answers `RunningServers`; in `skep dev` also what the URL of each server begins with. */
export const RUNNING_SERVERS_PATH = '/mcp';

export interface RunningServer {
  readonly namespace: string;
  readonly name: string;
  /** In `skep dev` `http://127.0.0.1:<port>/mcp/<namespace>/<name>`, in a cluster that of its status, with the path that clients ask for. */
  readonly url: string;
  /** `sse`: the transport of 2024-11-05; a GET of the URL opens its stream. */
  readonly transport: 'streamable-http' | 'sse';
  /** Its proxy answers, and has reached the server; a virtual server has asked its members. */
  readonly ready: boolean;
  /** Names the definitions that are not as its lock says, and says if they are held back; absent if all are, or if nothing is locked. */
  readonly drift?: string;
  /** In `skep dev`: why it does not run on this machine; absent if it does. */
  readonly notRunHere?: string;
  /**
   * `token`: the one of `skep dev`, as a bearer token. `oidc`: the server asks for one of its own issuer. `none`:
   * it asks for nothing.
   */
  readonly auth: 'token' | 'oidc' | 'none';
  /** Of its container, which entries of the catalogue name; absent for a server that runs elsewhere. */
  readonly image?: string;
  readonly args?: readonly string[];
  /** Verified attestations of that image; absent if there are none. */
  readonly provenance?: readonly ImageProvenance[];
  /** Of a server that runs elsewhere, behind a proxy here. */
  readonly remoteUrl?: string;
}

/** How a running server is listed in a catalogue, by the annotations `registry-...` of its resource. */
export interface Listing {
  readonly kind: string;
  readonly uid?: string;
  /** Address outside the cluster; absent: `url` of the running server. */
  readonly url?: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  /** Names of its tools, as far as they are declared. */
  readonly tools?: readonly string[];
}

/** A running server as the reconciler knows it. */
export interface ListedServer extends RunningServer {
  /** Absent: its resource does not ask for an entry. */
  readonly listing?: Listing;
}

export interface RunningServers {
  readonly version: 1;
  /** Of `skep dev`: true if the request carried the token. No answer holds the token, since every user of the machine may ask. */
  readonly authorised?: boolean;
  /** By namespace and name. */
  readonly servers: readonly RunningServer[];
}

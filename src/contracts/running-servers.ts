// Defines the running servers of the fleet for readers of the catalogue: the response of GET /mcp, which the page of
// the catalogue reads. `skep dev` builds it from the processes of the machine. In a cluster the reconciler writes it
// into the store, and the registry service returns it.

import type { ImageProvenance } from './registry/image-provenance.ts';

/** The path at which GET returns `RunningServers`. In `skep dev`, the URL of each server also begins with it. */
export const RUNNING_SERVERS_PATH = '/mcp';

export interface RunningServer {
  readonly namespace: string;
  readonly name: string;
  /**
   * In `skep dev` `http://127.0.0.1:<port>/mcp/<namespace>/<name>`. In a cluster the URL in the status of the server,
   * with the path for clients.
   */
  readonly url: string;
  /** `sse`: the HTTP+SSE transport of MCP 2024-11-05, in which a GET of the URL opens the stream. */
  readonly transport: 'streamable-http' | 'sse';
  /**
   * Whether the server's proxy responds and has reached the server. For a virtual server, whether it has queried its
   * members.
   */
  readonly ready: boolean;
  /**
   * Names the definitions that differ from the server's lock, and says if they are hidden from clients. Absent if no
   * definition differs or nothing is locked.
   */
  readonly drift?: string;
  /** In `skep dev`, the reason why the server does not run on this machine. Absent if it runs. */
  readonly notRunHere?: string;
  /**
   * `token`: clients send the token of `skep dev` as a bearer token. `oidc`: clients need a token of the server's own
   * issuer. `none`: clients need no token.
   */
  readonly auth: 'token' | 'oidc' | 'none';
  /**
   * The image of its container, by which entries of the catalogue refer to it. Absent for a server that runs elsewhere.
   */
  readonly image?: string;
  readonly args?: readonly string[];
  /** Verified attestations of the image. Absent if there are no attestations. */
  readonly provenance?: readonly ImageProvenance[];
  /** The URL of a server that runs elsewhere, behind a proxy here. */
  readonly remoteUrl?: string;
}

/** How a running server is listed in a catalogue, by the annotations `registry-...` of its resource. */
export interface Listing {
  readonly kind: string;
  readonly uid?: string;
  /** Address outside the cluster. If absent, `url` of the running server is listed. */
  readonly url?: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  /** Declared names of the server's tools. */
  readonly tools?: readonly string[];
}

/** A running server with its listing in catalogues, known to the reconciler only. */
export interface ListedServer extends RunningServer {
  /** Absent if the server's resource does not request an entry. */
  readonly listing?: Listing;
}

export interface RunningServers {
  readonly version: 1;
  /**
   * In `skep dev`, whether the request carried the token. No response contains the token, because every user of the
   * machine may send a request.
   */
  readonly authorised?: boolean;
  /** Servers sorted by namespace and name. */
  readonly servers: readonly RunningServer[];
}

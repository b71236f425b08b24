// Defines the list of running servers, which the catalogue's page reads with GET /mcp. `skep dev` creates the list from
// processes of the machine. In a cluster, the reconciler writes the list into the store, and the registry service
// returns it.

import type { ImageProvenance } from './registry/image-provenance.ts';

/** Path of `RunningServers`. In `skep dev`, the paths of servers' URLs also begin with it. */
export const RUNNING_SERVERS_PATH = '/mcp';

export interface RunningServer {
  readonly namespace: string;
  readonly name: string;
  /**
   * In `skep dev`: `http://127.0.0.1:<port>/mcp/<namespace>/<name>`. In a cluster: the URL in the server's status, with
   * the path for clients.
   */
  readonly url: string;
  /** `sse`: the HTTP+SSE transport of MCP 2024-11-05, in which a GET of the URL opens the stream. */
  readonly transport: 'streamable-http' | 'sse';
  /**
   * True if the server's proxy responds and has reached the server. For a virtual server: true if it has queried its
   * members.
   */
  readonly ready: boolean;
  /**
   * Text about tools and other definitions that differ from their reviewed definitions (tools lock), and whether
   * clients see them. Not set if none differs.
   */
  readonly drift?: string;
  /** Reason why the server does not run on this machine, in `skep dev`. Not set if it runs. */
  readonly notRunHere?: string;
  /**
   * Token that clients need. `token`: the token of `skep dev`. `oidc`: a token of the server's issuer. `none`: no
   * token.
   */
  readonly auth: 'token' | 'oidc' | 'none';
  /** Image of the server's container, which entries of the catalogue also name. Not set for a remote server. */
  readonly image?: string;
  readonly args?: readonly string[];
  /** Verified attestations of the image. Not set if the image has none. */
  readonly provenance?: readonly ImageProvenance[];
  /** URL of the remote server behind the proxy. */
  readonly remoteUrl?: string;
}

/** Entry of a running server in a catalogue, from the annotations `registry-...` of its resource. */
export interface CatalogueListing {
  readonly kind: string;
  readonly uid?: string;
  /** URL outside of the cluster. If not set, the entry contains `url` of the running server. */
  readonly url?: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  /** Names of the server's tools, as declared. */
  readonly tools?: readonly string[];
}

/** Running server with its entry in a catalogue. */
export interface ListedServer extends RunningServer {
  /** Not set if the server's resource requests no entry. */
  readonly listing?: CatalogueListing;
}

export interface RunningServers {
  readonly version: 1;
  /**
   * In `skep dev`: true if the request had the token. The token itself is never returned, because every user of the
   * machine can send requests.
   */
  readonly authorised?: boolean;
  /** Servers, sorted by namespace and name. */
  readonly servers: readonly RunningServer[];
}

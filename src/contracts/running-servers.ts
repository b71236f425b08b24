// What `skep dev` says of the MCP servers that run on this machine: the answer of GET /mcp beside the catalogue, which the
// page of the registry reads, and the line that is printed at start. Knows nothing about how they run.

/** Where GET answers `RunningServers`, and what the URL of each server begins with. */
export const RUNNING_SERVERS_PATH = '/mcp';

export interface RunningServer {
  readonly namespace: string;
  readonly name: string;
  /** `http://127.0.0.1:<port>/mcp/<namespace>/<name>` */
  readonly url: string;
  /** `sse`: the transport of 2024-11-05; a GET of the URL opens its stream. */
  readonly transport: 'streamable-http' | 'sse';
  /** Its proxy answers, and has reached the server; a virtual server has asked its members. */
  readonly ready: boolean;
  /** `token`: the one of this start, as a bearer token. `oidc`: the server asks for one of its own issuer. */
  readonly auth: 'token' | 'oidc';
  /** Of its container, which entries of the catalogue name; absent for a server that runs elsewhere. */
  readonly image?: string;
  readonly args?: readonly string[];
  /** Of a server that runs elsewhere, behind a proxy here. */
  readonly remoteUrl?: string;
}

export interface RunningServers {
  readonly version: 1;
  /** Whoever asked has sent the token of this start, which no answer holds: every user of the machine may ask. */
  readonly authorised: boolean;
  /** By namespace and name. */
  readonly servers: readonly RunningServer[];
}

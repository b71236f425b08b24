// Defines the outbound ports of backends: HTTP requests, processes, time and randomness.

/** Outbound HTTP request to a server. The host of the URL comes from the configuration. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Header names are in lower case. Without `host`, the host of the URL is sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** True if the answer stays open. Such requests use separate connections, whose number is not limited. */
  readonly stream: boolean;
  /** Time limit for the head of the answer. 0 means no limit. */
  readonly firstByteMs: number;
  /** Time limit between two chunks of the answer. 0 means no limit. */
  readonly idleMs: number;
}

export interface UpstreamHandlers {
  /** Handles the head. Header names are in lower case. The value of a repeated header is a list. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** Handles a chunk. Returns false to stop reading until `resume`. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Handles a failure, once and in place of `end`. */
  failed(fault: UpstreamFault): void;
}

export interface UpstreamFault {
  readonly reason: 'unreachable' | 'timeout' | 'closed' | 'busy' | 'refused-address';
  /** Host and cause for the operator, without headers or bodies. */
  readonly detail: string;
  /** True if no byte of the request reached the server. */
  readonly unsent: boolean;
}

export interface UpstreamFlow {
  abort(): void;
  resume(): void;
}

export interface Upstream {
  /** Sends a request. Passes redirects on as answers. Never throws because of the server. */
  request(request: UpstreamRequest, handlers: UpstreamHandlers): UpstreamFlow;
  close(): Promise<void>;
}

/** Handlers for the standard streams of one process or container. */
export interface StreamsHandlers {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  drain(): void;
  /** Handles the end of the process or of the connection to the process, once. `detail` is for the operator. */
  closed(detail: string): void;
}

export interface Streams {
  /**
   * Identifies the run of the process: the container id and restart count, or the process id. A restarted process has
   * another value.
   */
  readonly instance: string;
  /** Writes to standard input. Returns false if the caller must wait for `drain`. */
  write(chunk: Buffer): boolean;
  /** Stops reading standard output until `resume`. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/**
 * Opens the standard streams of the process with this index. The index is 0 unless a pool has several processes.
 * Rejects with a Failure.
 */
export type OpenStreams = (index: number, handlers: StreamsHandlers) => Promise<Streams>;

/** Processes that are used once. Closing the streams ends the process, and a new process replaces it. */
export interface Processes {
  readonly open: OpenStreams;
  /** Resolves if the process with this index runs. The process stays unused. Rejects with a Failure. */
  check(index: number): Promise<void>;
}

export interface BackendClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /**
   * Calls `task` once after this time. The returned function cancels the call. The timer does not keep the Node process
   * alive.
   */
  after(ms: number, task: () => void): () => void;
  /** Unpredictable bytes. */
  random(size: number): Buffer;
}

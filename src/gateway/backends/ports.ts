// Defines the ports of backends to the outside: HTTP exchanges, processes, time and randomness.

/** Outbound HTTP request of the data plane; the configuration names the URL's host. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. Without `host`, the URL's host is sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** True if the answer stays open. Such requests use connections of their own, without a limit on their number. */
  readonly stream: boolean;
  /** Time limit for the head of the answer; 0: no limit. */
  readonly firstByteMs: number;
  /** Time limit between two chunks of the answer; 0: no limit. */
  readonly idleMs: number;
}

export interface UpstreamHandlers {
  /** Receives the head. Names of headers are in lower case, and a repeated header is a list. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** Returns false to stop reading until `resume`. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Receives the fault, once and instead of `end`. */
  failed(fault: UpstreamFault): void;
}

export interface UpstreamFault {
  readonly reason: 'unreachable' | 'timeout' | 'closed' | 'busy' | 'refused-address';
  /** Host and cause for the operator, never headers or bodies. */
  readonly detail: string;
  /** Whether no byte of the request reached the server. */
  readonly unsent: boolean;
}

export interface UpstreamFlow {
  abort(): void;
  resume(): void;
}

export interface Upstream {
  /** Sends a request; redirects are passed on as answers. Never throws because of the server. */
  request(request: UpstreamRequest, handlers: UpstreamHandlers): UpstreamFlow;
  close(): Promise<void>;
}

/** Receives the separate standard streams of one process or container. */
export interface StreamsHandlers {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  drain(): void;
  /** Notes the end of the process or of the connection to it. Called once. `detail` is for the operator. */
  closed(detail: string): void;
}

export interface Streams {
  /** Identifies the run of the process (container id and restart count, or pid): another value means another run. */
  readonly instance: string;
  /** Writes to standard input. Returns false if the caller must wait for `drain`. */
  write(chunk: Buffer): boolean;
  /** Stops reading standard output; `resume` starts it again. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/** Opens the standard streams of the process with this index (0 unless a pool has several). Rejects with a Failure. */
export type OpenStreams = (index: number, handlers: StreamsHandlers) => Promise<Streams>;

/** Processes that are used once: closing the streams ends the process, and another process takes its place. */
export interface Processes {
  readonly open: OpenStreams;
  /** Resolves if the process with this index runs, without using the process. Rejects with a Failure. */
  check(index: number): Promise<void>;
}

/** Time and randomness. */
export interface BackendClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Calls `task` once after a time. The returned function cancels the call. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
  /** Unpredictable bytes. */
  random(size: number): Buffer;
}

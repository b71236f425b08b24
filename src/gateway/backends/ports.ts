// What backends need of the world: HTTP exchanges and processes.

/** One outbound HTTP request of the data plane; the URL's host is one that the configuration names. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Names in lower case. `host` is the URL's own unless it is here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** True for requests whose answer stays open: they use connections of their own, without a cap. */
  readonly stream: boolean;
  /** Until the head of the answer; 0: no limit. */
  readonly firstByteMs: number;
  /** Between two chunks of the answer; 0: no limit. */
  readonly idleMs: number;
}

export interface UpstreamHandlers {
  /** Names in lower case; repeated ones as a list. */
  head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
  /** False: stop reading until `resume`. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Once, instead of `end`. */
  failed(fault: UpstreamFault): void;
}

export interface UpstreamFault {
  readonly reason: 'unreachable' | 'timeout' | 'closed' | 'busy' | 'refused-address';
  /** For the operator: host and cause, never headers or bodies. */
  readonly detail: string;
  /** True: not a byte of the request reached the other side. */
  readonly unsent: boolean;
}

export interface UpstreamFlow {
  abort(): void;
  resume(): void;
}

export interface Upstream {
  /** Redirects are answers. Never throws because of the other side. */
  request(request: UpstreamRequest, handlers: UpstreamHandlers): UpstreamFlow;
  close(): Promise<void>;
}

/** Standard streams of one process or container, apart. */
export interface StreamsHandlers {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  drain(): void;
  /** Once: the process ended or the line to it broke. `detail` is for the operator. */
  closed(detail: string): void;
}

export interface Streams {
  /** Which run of the process it is (container id and restart count, or pid): another value is another process. */
  readonly instance: string;
  /** False: wait for `drain`. */
  write(chunk: Buffer): boolean;
  /** Stops and starts reading standard output. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/** Opens the standard streams of the process with this index (0 unless a pool has several). Rejects with a Failure. */
export type OpenStreams = (index: number, handlers: StreamsHandlers) => Promise<Streams>;

/** Processes for one use each: closing the streams ends the process and lets another take its place. */
export interface Processes {
  readonly open: OpenStreams;
  /** Resolves if the process with this index runs; does not use it. Rejects with a Failure. */
  check(index: number): Promise<void>;
}

/** Time and chance, passed in. */
export interface BackendClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Calls back once after a time, and can be taken back; does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
  /** Unpredictable bytes. */
  random(size: number): Buffer;
}

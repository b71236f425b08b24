// The contract of a runner of containers: containers of pods, as their standard streams.

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The receiver of a container's output. Every connection receives all output. */
export interface ContainerOutput {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Called once, as the last call. `error` is undefined if the container ended with 0. */
  ended(error: string | undefined): void;
  /** Called once, in place of `ended`, if the node is lost. */
  lost(): void;
}

/** A connection to a container. */
export interface ContainerConnection {
  /** If it returns false, the caller waits for `drained`. */
  write(chunk: Buffer): boolean;
  drained(callback: () => void): void;
  endInput(): void;
  /** Pauses the container's output for all connections, because one does not read. Container runtimes do the same. */
  pause(): void;
  resume(): void;
  /**
   * Ends the connection, and also the container's input if that is for one connection (`stdinOnce`) and this connection
   * had it.
   */
  detach(hadInput: boolean): void;
  /** Whether the node responds to nothing, not even to pings. */
  frozen(): boolean;
}

export interface ContainerRunner {
  /** Returns undefined if the container does not run. */
  connect(name: ContainerName, output: ContainerOutput): ContainerConnection | undefined;
}

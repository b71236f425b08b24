// Defines the interface of a runner of containers, which connects clients to their standard streams.

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The receiver of a container's output. Every connection receives all output. */
export interface ContainerOutput {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Reports the end of the container, as the last call. `error` is undefined if the exit code was 0. */
  ended(error: string | undefined): void;
  /** Reports that the node is lost, in place of `ended`. */
  lost(): void;
}

/** A connection to a container. */
export interface ContainerConnection {
  /** Writes to the container's input. If it returns false, the caller waits for `drained`. */
  write(chunk: Buffer): boolean;
  drained(callback: () => void): void;
  endInput(): void;
  /** Pauses the container's output for all connections, as container runtimes do if one client does not read. */
  pause(): void;
  resume(): void;
  /**
   * Ends the connection. `hadInput`: also ends the container's input if `stdinOnce` limits the input to one connection.
   */
  detach(hadInput: boolean): void;
  /** Whether the node responds to nothing, not even to pings. */
  frozen(): boolean;
}

export interface ContainerRunner {
  /** Returns undefined if the container does not run. */
  connect(name: ContainerName, output: ContainerOutput): ContainerConnection | undefined;
}

// Defines the interface of a component that runs containers and connects clients to their standard streams.

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Receives a container's output. Every connection receives all output. */
export interface ContainerOutput {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Reports the container's end. No other call follows. `error` is undefined if the exit code was 0. */
  ended(error: string | undefined): void;
  /** Reports that the node was lost. Called instead of `ended`. */
  lost(): void;
}

export interface ContainerConnection {
  /** Writes to the container's input. If false, the caller must wait for `drained`. */
  write(chunk: Buffer): boolean;
  drained(callback: () => void): void;
  endInput(): void;
  /** Pauses the container's output for all connections. Container runtimes also do this if one client does not read. */
  pause(): void;
  resume(): void;
  /** Ends the connection. If `hadInput` and the container has `stdinOnce`, also closes the container's input. */
  detach(hadInput: boolean): void;
  /** True if the node answers nothing, not even pings. */
  frozen(): boolean;
}

export interface ContainerRunner {
  /** Returns undefined if the container does not run. */
  connect(name: ContainerName, output: ContainerOutput): ContainerConnection | undefined;
}

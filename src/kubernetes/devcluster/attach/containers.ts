// Containers of pods as their standard streams: the contract of whatever runs them.

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Every connection gets all output. */
export interface ContainerOutput {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Once; nothing follows. `error` is undefined where it ended with 0. */
  ended(error: string | undefined): void;
  /** Once, in place of `ended`: the node is gone. */
  lost(): void;
}

/** One connection to a container. */
export interface ContainerConnection {
  /** False: wait for `drained`. */
  write(chunk: Buffer): boolean;
  drained(callback: () => void): void;
  endInput(): void;
  /** One connection that does not read stops the container's output for all, as container runtimes do. */
  pause(): void;
  resume(): void;
  /** Ends the container's input as well if it is for one connection (`stdinOnce`) and this connection had it. */
  detach(hadInput: boolean): void;
  /** The node answers nothing, pings included. */
  frozen(): boolean;
}

export interface ContainerRunner {
  /** Undefined where the container does not run. */
  connect(name: ContainerName, output: ContainerOutput): ContainerConnection | undefined;
}

// Defines the state of a container that a node runs.

/** The end of a run. Times are in milliseconds since 1970. */
export interface EndedRun {
  readonly id: string;
  readonly exitCode: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

export type Stage =
  | { readonly is: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly is: 'running'; readonly startedAt: number }
  | { readonly is: 'terminated'; readonly run: EndedRun };

export interface ContainerState {
  readonly id: string;
  readonly stage: Stage;
  readonly started: boolean;
  readonly ready: boolean;
  readonly restarts: number;
  /** The previous run. undefined before the second run. */
  readonly last: EndedRun | undefined;
}

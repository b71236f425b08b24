// Defines the calls and the logs of a resource as the console shows them.

export interface Rate {
  readonly total: number;
  readonly perMinute: number;
}

export interface Traffic {
  /** Seconds that the rates are about. */
  readonly seconds: number;
  /** True if the rates are averages since the proxies started, because there is no earlier reading. */
  readonly sinceStart: boolean;
  readonly pods: number;
  readonly open: number;
  /** Calls of MCP methods. */
  readonly calls: Rate;
  readonly errors: Rate;
  /** Tools, most called first. */
  readonly tools: readonly (Rate & { readonly name: string; readonly errors: number; readonly meanMs: number })[];
  /** Errors by their type, most frequent first. */
  readonly errorTypes: readonly (Rate & { readonly type: string })[];
  /** Requests that the proxy refused or could not forward, by reason. */
  readonly refusals: readonly (Rate & { readonly reason: string })[];
}

export interface ContainerLog {
  readonly pod: string;
  readonly container: string;
  /** True if the lines are of the run before the last restart: the container does not run now. */
  readonly previous: boolean;
  /** Last lines, oldest first. Secrets are masked. */
  readonly lines: readonly string[];
  /** Reason if the log was not read; absent if it was read. */
  readonly unread?: string;
}

export interface Logs {
  readonly logs: readonly ContainerLog[];
  /** Number of further containers whose logs were not read. */
  readonly omitted: number;
}

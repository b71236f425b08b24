// Requests documents of the virtual server that serves the page.

export interface Backend {
  readonly name: string;
  readonly url: string;
  readonly status: 'healthy' | 'degraded' | 'unhealthy' | 'unknown';
  readonly transport: string;
  readonly auth_type: string;
  readonly consecutive_failures: number;
  readonly last_check?: string;
  readonly circuit_state?: string;
  readonly message?: string;
  readonly per_caller?: true;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Backend of an item, and the item's name at the backend. Both are absent if the item belongs to the virtual server.
 */
export interface ItemOrigin {
  readonly backend?: string;
  readonly own?: string;
}

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'skills';

export interface Offered extends ItemOrigin {
  readonly list: ListName;
  readonly name: string;
  readonly advertised: boolean;
}

export interface Conflict {
  readonly list: ListName;
  readonly name: string;
  readonly given_to?: ItemOrigin;
  readonly others: readonly ItemOrigin[];
}

export interface WorkflowStepView {
  readonly id: string;
  readonly type: 'tool' | 'elicitation' | 'forEach';
  readonly tool?: string;
  readonly missing?: boolean;
  readonly depends_on: readonly string[];
  readonly conditional: boolean;
}

export interface Workflow {
  readonly name: string;
  readonly description?: string;
  readonly shown: boolean;
  readonly steps: readonly WorkflowStepView[];
}

export interface WorkflowRunView {
  readonly run: string;
  readonly workflow: string;
  readonly ended: string;
  readonly duration_ms: number;
  readonly result: 'completed' | 'failed' | 'timed-out' | 'cancelled';
  readonly steps: readonly {
    readonly id: string;
    readonly result: 'completed' | 'failed' | 'skipped' | 'cancelled';
    readonly duration_ms: number;
    readonly retries: number;
  }[];
}

export interface VirtualServerStatus {
  readonly name: string;
  readonly version: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly conflict_resolution: string;
  readonly offered: readonly Offered[];
  readonly conflicts: readonly Conflict[];
  readonly workflows: readonly Workflow[];
  readonly runs: readonly WorkflowRunView[];
}

export interface VirtualServerView {
  readonly status: VirtualServerStatus;
  readonly backends: readonly Backend[];
}

const TIMEOUT_MS = 20_000;

async function get<T>(path: string): Promise<T> {
  const response = await fetch(new URL(`./${path}`, document.baseURI), {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    credentials: 'omit',
    redirect: 'error',
  });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  return response.json();
}

/** Requests both documents. Rejects if the virtual server does not answer. */
export async function askVirtualServer(): Promise<VirtualServerView> {
  const [status, { backends }] = await Promise.all([
    get<VirtualServerStatus>('status'),
    get<{ readonly backends: readonly Backend[] }>('api/backends/health'),
  ]);
  return { status, backends };
}

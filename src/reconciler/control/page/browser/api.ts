// Sends requests to the reconciler that serves the page. The token is kept here, in memory, and nowhere else.

/** A run as docs/outputs/history.json describes it. */
export interface RunInShort {
  readonly id: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly state: 'succeeded' | 'progressing' | 'waiting' | 'not-ready' | 'failed';
  readonly commits: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<string, number>>;
  readonly approvals?: readonly {
    readonly source: string;
    readonly hash: string;
    readonly reasons: readonly string[];
    readonly deletions: readonly string[];
  }[];
  readonly failures: readonly { readonly code: string; readonly message: string }[];
  readonly unready: readonly string[];
  readonly completed?: { readonly at: string; readonly ready: number };
  readonly pinned: readonly { readonly source: string; readonly good: string; readonly bad: string }[];
  readonly omitted: Readonly<Record<string, number>>;
}

export interface Difference {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly long?: true;
}

export interface Run extends RunInShort {
  readonly outcomes: readonly {
    readonly action: string;
    readonly resource: string;
    readonly error?: { readonly code: string; readonly message: string };
    readonly diff?: readonly Difference[];
  }[];
  readonly held: readonly { readonly resource: string; readonly reason: string }[];
  /** Absent if all were ready, or a former release wrote the record. */
  readonly notReady?: readonly { readonly resource: string; readonly state: string; readonly why: string }[];
  /** Absent if there were none, or a former release wrote the record. */
  readonly drifted?: readonly { readonly resource: string; readonly why: string }[];
  readonly problems: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
    readonly file?: string;
    readonly line?: number;
    readonly resource?: string;
  }[];
}

/** `refused`: the token is missing or unknown. `says`: a sentence for the reader. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T }
  | { readonly ok: false; readonly refused: boolean; readonly says: string };

const TIMEOUT_MS = 20_000;

export function createApi() {
  let token = '';
  async function get<T>(path: string): Promise<Answer<T>> {
    try {
      const response = await fetch(new URL(`./${path}`, document.baseURI), {
        headers: { accept: 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        credentials: 'omit',
        redirect: 'error',
      });
      const body = await response.json();
      if (response.ok) return { ok: true, body };
      return {
        ok: false,
        refused: response.status === 401,
        says: String(body.error ?? `it responds with ${response.status}`),
      };
    } catch {
      return { ok: false, refused: false, says: 'the reconciler does not respond' };
    }
  }
  return {
    runs: () => get<{ readonly runs: readonly RunInShort[] }>('runs'),
    run: (id: string) => get<{ readonly run: Run }>(`runs/${encodeURIComponent(id)}`),
    hasToken: () => token !== '',
    setToken(value: string) {
      token = value;
    },
  };
}

export type Api = ReturnType<typeof createApi>;

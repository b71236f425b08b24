// Defines the interfaces for tracing work in spans.

export interface Trace {
  /** Runs a task in a child of the current span. Rejects with the task's error. `facts` never contain a secret. */
  span<T>(name: string, facts: Readonly<Record<string, string | number>>, task: () => Promise<T>): Promise<T>;
}

export const UNTRACED: Trace = { span: (_name, _facts, task) => task() };

/** Trace context of the sender of a request. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Span of a request. */
export interface RequestSpan {
  readonly traceId: string;
  /** Runs the task. All work that the task begins belongs to the span. */
  during(task: () => void): void;
  /** Ends the span. `route` is the pattern of the matched route. undefined means that no route matched. */
  ended(route: string | undefined, status: number): void;
}

export type BeginRequest = (method: string, parent: TraceParent | undefined) => RequestSpan;

/** Reads a traceparent header (W3C Trace Context, section 3.2). Returns undefined if it is invalid. */
export function readTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [version = '', traceId = '', spanId = '', flags = '', ...more] = header.split('-');
  const formed = isHex(version, 2) && isHex(traceId, 32) && isHex(spanId, 16) && isHex(flags, 2);
  if (!formed || version === 'ff' || (version === '00' && more.length > 0)) return undefined;
  if (hasOnlyZeros(traceId) || hasOnlyZeros(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function textOfTraceParent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`;
}

/** Returns whether the text is lower-case hexadecimal. */
function isHex(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/.test(text);
}

function hasOnlyZeros(digits: string): boolean {
  return /^0+$/.test(digits);
}

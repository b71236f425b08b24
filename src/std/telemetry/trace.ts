// Names the parts of what a program does, for whoever measures them.

export interface Trace {
  /** Runs a task as a part of what is under way; what it throws is passed on. Facts never hold a secret. */
  span<T>(name: string, facts: Readonly<Record<string, string | number>>, task: () => Promise<T>): Promise<T>;
}

export const UNTRACED: Trace = { span: (_name, _facts, task) => task() };

/** Where a request comes from. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** A request that is being answered. */
export interface RequestSpan {
  readonly traceId: string;
  /** What the task begins is a part of it. */
  during(task: () => void): void;
  /** `route`: the pattern; undefined where there is none. */
  ended(route: string | undefined, status: number): void;
}

export type BeginRequest = (method: string, parent: TraceParent | undefined) => RequestSpan;

/** Of a header; undefined where it says nothing that can be relied on. W3C Trace Context, section 3.2. */
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

/** Capital letters are none here. */
function isHex(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/.test(text);
}

function hasOnlyZeros(digits: string): boolean {
  return /^0+$/.test(digits);
}

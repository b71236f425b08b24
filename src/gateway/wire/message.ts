// Defines the result of the strict scan of one JSON-RPC message: its kind, and the positions of its parts in the
// unchanged bytes.

/** Bytes from `start` (inclusive) to `end` (exclusive) of the scanned body. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** JSON-RPC id or progress token, which is a text or an integer, with its position. */
export interface MessageId {
  readonly span: Span;
  /** JSON text without unnecessary escapes, such as `7` or `"a"`. Equal ids have equal texts. */
  readonly json: string;
}

/** Name or URI that a message is about. The position includes the quotes. */
export interface MessageTarget {
  readonly value: string;
  readonly span: Span;
  /** `params.ref.type` of a completion request. */
  readonly refType?: 'ref/prompt' | 'ref/resource';
}

/** Parts of `params._meta` that a gateway reads. */
export interface MessageMeta {
  /** Position of the whole object `_meta`. */
  readonly span: Span;
  /** `io.modelcontextprotocol/protocolVersion`, present only in the stateless era. */
  readonly protocolVersion?: string;
  readonly progressToken?: MessageId;
  /**
   * `io.modelcontextprotocol/subscriptionId`: id of the `subscriptions/listen` request that a notification belongs to.
   */
  readonly subscriptionId?: MessageId;
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  /** `io.modelcontextprotocol/clientInfo`. */
  readonly clientInfo?: Span;
  /** `io.modelcontextprotocol/clientCapabilities`. */
  readonly clientCapabilities?: Span;
}

interface MethodCall {
  readonly method: string;
  readonly methodSpan: Span;
  readonly params?: Span;
  /** Target that the table of methods defines for the method: `params.name`, `params.uri`, `params.ref.name`, ... */
  readonly target?: MessageTarget;
  /** Position of `params.arguments`. The scan does not read its members. */
  readonly arguments?: Span;
  readonly meta?: MessageMeta;
  /** `params.requestId` of `notifications/cancelled`, or `params.progressToken` of `notifications/progress`. */
  readonly refersTo?: MessageId;
  /** `params.protocolVersion` of `initialize`. */
  readonly requestedVersion?: string;
  /** Position of `params.clientInfo` of `initialize`, which may have any type. */
  readonly clientInfo?: Span;
  /** Position of `params.cursor`, which may have any type. */
  readonly cursor?: Span;
}

export interface RequestMessage extends MethodCall {
  readonly kind: 'request';
  readonly id: MessageId;
}

export interface NotificationMessage extends MethodCall {
  readonly kind: 'notification';
}

export interface ResponseMessage {
  readonly kind: 'response';
  /** Absent in an error about a message that the sender could not read (JSON-RPC 2.0 section 5: `null`). */
  readonly id?: MessageId;
  readonly result?: Span;
  readonly error?: Span;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Reason why a message is refused, for the sender of the message. */
export interface ScanFault {
  /**
   * Code of JSON-RPC 2.0 section 5.1. -32700: the bytes are not JSON. -32600: the JSON is not a message. -32602: the
   * message lacks params of its method.
   */
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
  /** Id of the message, if readable, for the refusal. */
  readonly id?: MessageId;
}

export type Scanned =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly fault: ScanFault };

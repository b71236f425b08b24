// Describes one JSON-RPC message of MCP as its strict scan reports it: its kind, and where its parts stand in the
// unchanged bytes.

/** The bytes from `start` (inclusive) to `end` (exclusive) of the scanned body. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A JSON-RPC id or progress token: a text or an integer, with its position in the bytes. */
export interface MessageId {
  readonly span: Span;
  /** JSON text without needless escapes, such as `7` or `"a"`: equal ids have equal texts. */
  readonly json: string;
}

/** The name or URI that a message is about, and the position of the JSON string including its quotes. */
export interface Target {
  readonly value: string;
  readonly span: Span;
  /** `params.ref.type` of a completion. */
  readonly refType?: 'ref/prompt' | 'ref/resource';
}

/** The parts of `params._meta` that a gateway reads. */
export interface MessageMeta {
  /** Position of the whole object. */
  readonly span: Span;
  /** `io.modelcontextprotocol/protocolVersion`; only set in the stateless era. */
  readonly protocolVersion?: string;
  readonly progressToken?: MessageId;
  /** `io.modelcontextprotocol/subscriptionId`: the id of the `subscriptions/listen` to which a notification belongs. */
  readonly subscriptionId?: MessageId;
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  /** `io.modelcontextprotocol/clientInfo`. */
  readonly clientInfo?: Span;
  /** `io.modelcontextprotocol/clientCapabilities`. */
  readonly clientCapabilities?: Span;
}

interface Call {
  readonly method: string;
  readonly methodSpan: Span;
  /** Position of the object; absent if the message has none. */
  readonly params?: Span;
  /** Target of the message by the table of methods: `params.name`, `params.uri`, `params.ref.name`, ... */
  readonly target?: Target;
  /** Position of `params.arguments`, whose members are not read. */
  readonly arguments?: Span;
  readonly meta?: MessageMeta;
  /** `params.requestId` of `notifications/cancelled`, `params.progressToken` of `notifications/progress`. */
  readonly refersTo?: MessageId;
  /** `params.protocolVersion` of `initialize`. */
  readonly requestedVersion?: string;
  /** `params.clientInfo` of `initialize`, of any type. */
  readonly clientInfo?: Span;
  /** `params.cursor`, of any type. */
  readonly cursor?: Span;
}

export interface RequestMessage extends Call {
  readonly kind: 'request';
  readonly id: MessageId;
}

export interface NotificationMessage extends Call {
  readonly kind: 'notification';
}

export interface ResponseMessage {
  readonly kind: 'response';
  /** Absent in an error about a message that could not be read (JSON-RPC 2.0 section 5: `null`). */
  readonly id?: MessageId;
  readonly result?: Span;
  readonly error?: Span;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** The reason why bytes are refused, in words for their sender. */
export interface ScanFault {
  /**
   * Code of JSON-RPC 2.0 section 5.1: -32700 for bytes that are not JSON, -32600 for JSON that is not a message, -32602
   * for a message without the params that its method needs.
   */
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
  /** Id of the message, if readable, so that the refusal can contain it. */
  readonly id?: MessageId;
}

export type Scanned =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly fault: ScanFault };

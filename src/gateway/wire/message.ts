// One JSON-RPC message of MCP as its strict scan reports it: what it is, and where in the bytes its parts stand. The bytes
// themselves go on unchanged.

/** Bytes `start` (inclusive) to `end` (exclusive) of the scanned body. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A JSON-RPC id or a progress token: a text or an integer, and where it stands in the bytes. */
export interface MessageId {
  readonly span: Span;
  /** Its JSON text without needless escapes, such as `7` or `"a"`: equal ids have equal texts. */
  readonly json: string;
}

/** The text that a message is about (a tool's name, a resource's URI), and where the JSON string stands, quotes included. */
export interface Target {
  readonly value: string;
  readonly span: Span;
  /** `params.ref.type` of a completion. */
  readonly refType?: 'ref/prompt' | 'ref/resource';
}

/** What `params._meta` says that a gateway reads. The rest of it is not looked at. */
export interface MessageMeta {
  /** The whole object. */
  readonly span: Span;
  /** `io.modelcontextprotocol/protocolVersion`: there in the stateless era only. */
  readonly protocolVersion?: string;
  readonly progressToken?: MessageId;
  /** `io.modelcontextprotocol/subscriptionId`: the id of the `subscriptions/listen` that a notification belongs to. */
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
  /** The object; absent where the message has none. */
  readonly params?: Span;
  /** What it is about, by the table of methods: `params.name`, `params.uri`, `params.ref.name`, ... */
  readonly target?: Target;
  /** The object `params.arguments`, not looked into. */
  readonly arguments?: Span;
  readonly meta?: MessageMeta;
  /** `params.requestId` of `notifications/cancelled`, `params.progressToken` of `notifications/progress`. */
  readonly refersTo?: MessageId;
  /** `params.protocolVersion` of `initialize`. */
  readonly requestedVersion?: string;
  /** `params.clientInfo` of `initialize`, whatever it is. */
  readonly clientInfo?: Span;
  /** `params.cursor`, whatever it is. */
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
  /** Absent where an error answers what could not be read (JSON-RPC 2.0 section 5: `null`). */
  readonly id?: MessageId;
  readonly result?: Span;
  readonly error?: Span;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Why bytes are refused, in words for whoever sent them. */
export interface ScanFault {
  /** JSON-RPC 2.0 section 5.1: -32700 is no JSON, -32600 JSON that is no message, -32602 lacks what its method needs. */
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
  /** The id where it could be read, so that the refusal can name it. */
  readonly id?: MessageId;
}

export type Scanned =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly fault: ScanFault };

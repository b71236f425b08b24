// Defines a line to one MCP server process or session for whole messages in both directions, such as stdio or an SSE
// connection.

export interface LinkHandlers {
  /** Receives one whole JSON-RPC message as the server wrote it, without its line end. */
  message(bytes: Buffer): void;
  /** Notes the end of the line. Called once. `detail` is for the operator. */
  closed(detail: string): void;
  /** Notes that the server reads again, after `send` returned false. */
  drain(): void;
}

export interface Link {
  /** Sends one whole message. Returns false if the server is slow: wait for `drain`. Has no effect after `closed`. */
  send(message: Buffer): boolean;
  /** Stops reading (`resume` starts it), so that a slow client slows the server down and buffers stay bounded. */
  pause(): void;
  resume(): void;
  /** Ends the session or process in the way of its transport. */
  close(): Promise<void>;
}

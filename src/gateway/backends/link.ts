// Defines a line to one MCP server process or session: a bidirectional channel for whole messages, such as stdio or
// HTTP+SSE.

export interface LinkHandlers {
  /** Handles one whole JSON-RPC message in the server's own bytes, without the line end. */
  message(bytes: Buffer): void;
  /** Handles the end of the line, once. `detail` is for the operator. */
  closed(detail: string): void;
  /** Called when the server reads again after `send` returned false. */
  drain(): void;
}

export interface Link {
  /**
   * Sends one whole message. Returns false if the server reads slowly: the sender must wait for `drain`. Has no effect
   * after `closed`.
   */
  send(message: Buffer): boolean;
  /** Stops reading until `resume`. A slow client thereby slows the server down, and buffers stay bounded. */
  pause(): void;
  resume(): void;
  /** Ends the session or process as its transport requires. */
  close(): Promise<void>;
}

// A line to one MCP server process or session over which whole messages go both ways: stdio, an SSE connection.

export interface LinkHandlers {
  /** One whole JSON-RPC message, as the server wrote it, without its line end. */
  message(bytes: Buffer): void;
  /** Once: nothing comes any more. `detail` is for the operator. */
  closed(detail: string): void;
  /** The server reads again after `send` was answered with false. */
  drain(): void;
}

export interface Link {
  /** One whole message. False: the server is slow; wait for `drain`. After `closed` it does nothing. */
  send(message: Buffer): boolean;
  /** Stops and starts reading, so that a slow client slows the server down and nothing is buffered without end. */
  pause(): void;
  resume(): void;
  /** Ends the other side in the way of its transport. */
  close(): Promise<void>;
}

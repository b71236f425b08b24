// Connects to an MCP server in a container of a cluster. Implements `OpenStreams` of gateway/backends/ports.ts with
// `pods/attach` of the Kubernetes API over a WebSocket (v4.channel.k8s.io, v5.channel.k8s.io).

import type { RawData, WebSocket } from 'ws';
import type { OpenStreams, Processes, Streams, StreamsHandlers } from '#gateway/backends/ports.ts';
import { openSocket } from './handshake.ts';
import type { AttachOptions } from './options.ts';
import { readInstance } from './pod-instance.ts';
import { statusIn } from './refusal.ts';
import { deletePod } from './replace-pod.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const PIECE_BYTES = 64 * 1024;
const MAX_BUFFERED_BYTES = 1024 * 1024;
const PING_MS = 5000;
const SILENT_MS = 20_000;
const CLOSE_MS = 2000;

interface AttachState {
  readonly options: AttachOptions;
  readonly socket: WebSocket;
  readonly handlers: StreamsHandlers;
  readonly pod: string;
  /** Empty until the pod has been read. */
  uid: string;
  /** Resolves after the request to delete the pod has ended. undefined until that request begins. */
  replaced: Promise<void> | undefined;
  heardAt: number;
  paused: boolean;
  /** True from a `write` that returned false until the next drain. */
  full: boolean;
  /** Message of the server on the status channel, or of a socket error. */
  status: string;
  /** True after the connection was returned to the caller. */
  used: boolean;
  closing: boolean;
  stopTimer: () => void;
}

export function createAttach(options: AttachOptions): OpenStreams {
  return (index, handlers) => attach(options, index, handlers);
}

/** Returns `Processes` that connect to pods. Each pod serves one session. */
export function createPods(options: AttachOptions): Processes {
  return {
    open: createAttach(options),
    async check(index) {
      await readInstance(options, options.pod(index), await options.credentials());
    },
  };
}

async function attach(options: AttachOptions, index: number, handlers: StreamsHandlers): Promise<Streams> {
  const pod = options.pod(index);
  const credentials = await options.credentials();
  // If a session ends with the deletion of its pod, a pod that is being deleted must be refused before the connection.
  const first = options.replacePod === undefined ? undefined : await readInstance(options, pod, credentials);
  const socket = await openSocket(options, pod, credentials);
  const state: AttachState = {
    ...{ options, socket, handlers, pod, uid: first?.uid ?? '', replaced: undefined },
    ...{ heardAt: options.clock.monotonic() },
    ...{ paused: false, full: false },
    ...{ status: '', used: false, closing: false, stopTimer: () => undefined },
  };
  socket.on('error', (error) => {
    state.status ||= error.message;
  });
  socket.on('close', (code) => {
    state.stopTimer();
    if (state.used && !state.closing) reportEnd(state, detailOf(state.status, code));
  });
  // No output is read before the current run of the container is known.
  const { uid, instance } = await readInstance(options, pod, credentials).catch(async (error: unknown) => {
    socket.terminate();
    await replacePod(state);
    throw error;
  });
  state.used = true;
  state.uid = uid;
  if (socket.readyState === socket.CLOSED) queueMicrotask(() => reportEnd(state, detailOf(state.status, NO_CODE)));
  return serveSocket(state, instance);
}

/** Close code for a connection that ended without a Close frame (RFC 6455 section 7.1.5). */
const NO_CODE = 1006;

function serveSocket(state: AttachState, instance: string): Streams {
  const { socket } = state;
  socket.on('message', (data) => receiveFrame(state, data));
  socket.on('pong', () => hear(state));
  watchSocket(state);
  socket.resume();
  return {
    instance,
    write: (chunk) => writeInput(state, chunk),
    pause() {
      state.paused = true;
      socket.pause();
    },
    resume() {
      state.paused = false;
      hear(state);
      socket.resume();
    },
    close: () => endUse(state),
  };
}

function detailOf(status: string, code: number): string {
  return status === '' ? `the connection to the container ended with ${code}` : `the container ended: ${status}`;
}

function hear(state: AttachState): void {
  state.heardAt = state.options.clock.monotonic();
}

function receiveFrame(state: AttachState, data: RawData): void {
  hear(state);
  if (!Buffer.isBuffer(data) || data.length < 2) return;
  const content = data.subarray(1);
  if (data[0] === STDOUT) state.handlers.stdout(content);
  else if (data[0] === STDERR) state.handlers.stderr(content);
  else if (data[0] === STATUS) state.status = describeStatus(content.toString());
}

function describeStatus(text: string): string {
  const status = statusIn(text);
  return status === undefined ? text.slice(0, 300) : String(status.message ?? status.status ?? '');
}

function writeInput(state: AttachState, chunk: Buffer): boolean {
  const { socket } = state;
  for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
    const piece = chunk.subarray(from, from + PIECE_BYTES);
    const frame = Buffer.allocUnsafe(piece.length + 1);
    frame[0] = STDIN;
    piece.copy(frame, 1);
    socket.send(frame, () => drain(state));
  }
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) state.full = true;
  return !state.full;
}

function drain(state: AttachState): void {
  if (!state.full || state.socket.bufferedAmount > MAX_BUFFERED_BYTES / 2) return;
  state.full = false;
  state.handlers.drain();
}

/**
 * Sends pings and closes a silent connection. While reading is paused, pongs are not read either, so silence is
 * ignored.
 */
function watchSocket(state: AttachState): void {
  const { socket, options } = state;
  state.stopTimer = options.clock.after(options.pingMs ?? PING_MS, () => {
    const silence = options.clock.monotonic() - state.heardAt;
    if (!state.paused && silence > (options.silentMs ?? SILENT_MS)) {
      state.status ||= `nothing was heard of the node for ${Math.round(silence / 1000)} s`;
      socket.terminate();
      return;
    }
    if (socket.readyState === socket.OPEN) socket.ping();
    watchSocket(state);
  });
}

/**
 * Deletes the pod, then reports the end of the connection. In the other order, the caller could mistake the restarted
 * container for a new pod.
 */
function reportEnd(state: AttachState, detail: string): void {
  void replacePod(state).then(() => state.handlers.closed(detail));
}

async function endUse(state: AttachState): Promise<void> {
  await Promise.all([close(state), replacePod(state)]);
}

/**
 * Deletes the pod instead of waiting for the restart of its container. Nodes delay restarts of frequently ended
 * containers by minutes.
 */
function replacePod(state: AttachState): Promise<void> {
  const { options, pod, uid } = state;
  if (options.replacePod === undefined) return Promise.resolve();
  state.replaced ??= deletePod(options, pod, uid).catch(options.replacePod.failed);
  return state.replaced;
}

function close(state: AttachState): Promise<void> {
  const { socket, options } = state;
  state.closing = true;
  state.stopTimer();
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const stopWaiting = options.clock.after(CLOSE_MS, () => socket.terminate());
    socket.once('close', () => {
      stopWaiting();
      resolve();
    });
    socket.resume();
    socket.close(1000);
  });
}

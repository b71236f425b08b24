// Asks the probes of a container, as a kubelet does. Knows nothing about what follows from the answer.

import { get } from 'node:http';
import { connect } from 'node:net';
import { type Container, type Probe, portNumber } from './objects.ts';

export interface ProbeWorld {
  /** The port of this machine in place of one of the container. */
  local(containerPort: number): number;
  /** Runs a command beside the container's, with its environment; whether it ended with 0 in time. */
  runs(command: readonly string[], timeoutMs: number): Promise<boolean>;
}

export interface ProbeResult {
  readonly passed: boolean;
  /** Why not. */
  readonly detail: string;
}

export async function askProbe(probe: Probe, container: Container, world: ProbeWorld): Promise<ProbeResult> {
  const timeoutMs = 1000 * (probe.timeoutSeconds ?? 1);
  if (probe.exec !== undefined) {
    const { command = [] } = probe.exec;
    const passed = await world.runs(command, timeoutMs);
    return { passed, detail: `${command[0]} did not end with 0 within ${timeoutMs} ms` };
  }
  const { httpGet } = probe;
  const wanted = httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port ?? '';
  const port = portNumber(container, wanted);
  if (port === undefined) return { passed: false, detail: `the container has no port ${wanted}` };
  // Whoever speaks gRPC takes a connection: its health service is not asked.
  if (httpGet === undefined) return accepts(world.local(port), timeoutMs);
  return answersWell(world.local(port), httpGet.path ?? '/', timeoutMs);
}

function answersWell(port: number, path: string, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get({ host: '127.0.0.1', port, path, signal, agent: false }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      const passed = statusCode >= 200 && statusCode < 400;
      resolve({ passed, detail: `HTTP probe failed with statuscode: ${statusCode}` });
    });
    request.once('error', (error) => resolve({ passed: false, detail: `Get ${path}: ${error.message}` }));
  });
}

function accepts(port: number, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: timeoutMs });
    const settle = (passed: boolean, detail: string) => {
      socket.destroy();
      resolve({ passed, detail });
    };
    socket.once('connect', () => settle(true, ''));
    socket.once('timeout', () => settle(false, `no connection within ${timeoutMs} ms`));
    socket.once('error', ({ message }) => settle(false, message));
  });
}

// Performs the probes of a container as a kubelet does. Probes that run a command are not supported.

import { get } from 'node:http';
import { connect } from 'node:net';
import { type Container, type Probe, portNumber } from './objects.ts';

export interface ProbeWorld {
  /** Returns the port of this machine for a container port. undefined if the container does not declare the port. */
  local(containerPort: number): number | undefined;
}

export interface ProbeResult {
  readonly passed: boolean;
  readonly detail: string;
}

/**
 * Removes probes that run a command. No container exists in which the command could run, and a manifest must not start
 * programs on this machine.
 */
export function withoutCommands(spec: Container): Container {
  const probes = [spec.startupProbe, spec.readinessProbe, spec.livenessProbe];
  if (!probes.some(runsCommand)) return spec;
  const [startupProbe, readinessProbe, livenessProbe] = probes.map((probe) => (runsCommand(probe) ? undefined : probe));
  return { ...spec, startupProbe, readinessProbe, livenessProbe };
}

function runsCommand(probe: Probe | undefined): boolean {
  return probe?.exec !== undefined;
}

export async function askProbe(probe: Probe, container: Container, world: ProbeWorld): Promise<ProbeResult> {
  const timeoutMs = 1000 * (probe.timeoutSeconds ?? 1);
  const { httpGet } = probe;
  const declaredPort = httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port ?? '';
  const port = portNumber(container, declaredPort);
  // On this machine, an undeclared port may belong to another program.
  const local = port === undefined ? undefined : world.local(port);
  if (local === undefined) return { passed: false, detail: `the container declares no port ${declaredPort}` };
  // For a gRPC probe, an accepted connection suffices. The gRPC health service is not called.
  if (httpGet === undefined) return accepts(local, timeoutMs);
  return answersWell(local, httpGet.path ?? '/', timeoutMs);
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

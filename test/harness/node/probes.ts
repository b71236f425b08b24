// Asks the probes of a container, as a kubelet does. Knows nothing about what follows from the answer.

import { connect } from 'node:net';
import type { Container } from './objects.ts';

type Probe = NonNullable<Container['readinessProbe']>;

/** `local`: the port of this machine in place of one of the container. */
export async function passes(
  probe: Probe,
  container: Container,
  local: (containerPort: number) => number,
): Promise<boolean> {
  const timeoutMs = 1000 * (probe.timeoutSeconds ?? 1);
  if (probe.httpGet !== undefined) {
    const { path, port } = probe.httpGet;
    return answersWell(`http://127.0.0.1:${local(numberOf(container, port))}${path}`, timeoutMs);
  }
  if (probe.tcpSocket !== undefined) return accepts(local(numberOf(container, probe.tcpSocket.port)), timeoutMs);
  throw new Error(`a probe of container ${container.name} is of no known kind: ${JSON.stringify(probe)}`);
}

export function numberOf({ name, ports = [] }: Container, port: string | number): number {
  const number = typeof port === 'number' ? port : ports.find((each) => each.name === port)?.containerPort;
  if (number === undefined) throw new Error(`container ${name} has no port ${port}`);
  return number;
}

async function answersWell(url: string, timeoutMs: number): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await answer.arrayBuffer();
    return answer.status >= 200 && answer.status < 400;
  } catch {
    return false;
  }
}

function accepts(port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: timeoutMs });
    const settle = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

// Serves the Services of the cluster on 127.0.0.1. A connection is forwarded to a ready pod, as with kube-proxy. A
// Service keeps its port across starts, unless another process has taken it.

import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { writePrivately } from '../storage/private-file.ts';
import { listenSomewhere } from './free-port.ts';
import type { Service } from './objects.ts';
import type { NodeApi } from './ports.ts';

export interface Services {
  /** Returns the port of 127.0.0.1 for a port of a Service, which may not exist yet. */
  port(namespace: string, name: string, port: number): Promise<number>;
  /** Whether a connection to the Service's port would reach a pod now. */
  answers(namespace: string, name: string, port: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns the ports on which the ready pods of a Service listen. */
export type FindEndpoints = (service: Service, targetPort: string | number) => readonly number[];

export function openServices(api: Pick<NodeApi, 'service'>, dir: string, find: FindEndpoints): Services {
  const file = join(dir, 'service-ports.json');
  const known = new Map<string, number>(Object.entries(readPorts(file)));
  const opened = new Map<string, Promise<number>>();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let turn = 0;
  let closed = false;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The other side notices the error when the connection ends.
    socket.on('error', () => socket.destroy());
  }

  async function findEndpoints(namespace: string, name: string, port: number) {
    const service = await api.service(namespace, name);
    const target = service?.spec.ports?.find((each) => each.port === port)?.targetPort ?? port;
    return { service, endpoints: service === undefined ? [] : find(service, target) };
  }

  async function forward(client: Socket, namespace: string, name: string, port: number): Promise<void> {
    keep(client);
    const { service, endpoints } = await findEndpoints(namespace, name, port);
    // Every client has the address 127.0.0.1, so with affinity they all reach the same pod.
    const index = service?.spec.sessionAffinity === 'ClientIP' ? 0 : turn++ % Math.max(endpoints.length, 1);
    const local = endpoints[index];
    if (local === undefined) {
      client.resetAndDestroy();
      return;
    }
    const pod = connect(local, '127.0.0.1');
    keep(pod);
    pod.once('close', () => client.destroy());
    client.once('close', () => pod.destroy());
    client.pipe(pod).pipe(client);
  }

  async function open(key: string, namespace: string, name: string, port: number): Promise<number> {
    const server = createServer((client) => {
      forward(client, namespace, name, port).catch(() => client.destroy());
    });
    try {
      const local = await listenSomewhere(server, known.get(key));
      known.set(key, local);
      await writePrivately(file, JSON.stringify(Object.fromEntries(known), undefined, 2));
      servers.push(server);
      return local;
    } catch (error) {
      server.close();
      // The next request tries again.
      opened.delete(key);
      throw error;
    }
  }

  return {
    async port(namespace, name, port) {
      if (closed) throw new Error(`Service ${namespace}/${name} has no port any more: the node has stopped`);
      const key = `${namespace}/${name}:${port}`;
      const opening = opened.get(key) ?? open(key, namespace, name, port);
      opened.set(key, opening);
      return opening;
    },
    answers: async (namespace, name, port) => (await findEndpoints(namespace, name, port)).endpoints.length > 0,
    async close() {
      closed = true;
      // A listener that opens later would never be closed and would keep the process running.
      await Promise.allSettled(opened.values());
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function readPorts(file: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The file was never written, or is incomplete. Each Service gets another port.
    return {};
  }
}

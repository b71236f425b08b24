// Serves the cluster's Services on 127.0.0.1. Forwards each connection to a ready pod, as kube-proxy does. A Service
// keeps its port after a restart, unless another process uses the port.

import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { writePrivately } from '../storage/private-file.ts';
import { listenSomewhere } from './free-port.ts';
import type { Service } from './objects.ts';
import type { NodeApi } from './ports.ts';

export interface Services {
  /** Returns the port of 127.0.0.1 for a port of a Service. The Service need not exist yet. */
  port(namespace: string, name: string, port: number): Promise<number>;
  /** True if a connection to the Service's port would currently reach a pod. */
  answers(namespace: string, name: string, port: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns the ports of this machine on which the Service's ready pods listen. */
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
    // The `close` event then closes the other connection.
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
    // All clients have the address 127.0.0.1, so with session affinity all connections go to the same pod.
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
      // The next request tries to open the port again.
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
      // A listener that opens after the close would keep the process running.
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
    // The file does not exist or is incomplete. All Services get new ports.
    return {};
  }
}

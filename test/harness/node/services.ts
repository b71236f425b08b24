// Services of the cluster as listeners on 127.0.0.1: a connection goes to a pod that is ready, as with kube-proxy. Knows
// nothing about what is said over it.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Api } from '../../recordings/api.ts';
import { read, type Service } from './objects.ts';

export interface Services {
  /** The port of 127.0.0.1 for one of a Service, which need not be there yet. */
  port(namespace: string, name: string, port: number): Promise<number>;
  close(): Promise<void>;
}

/** Where a ready pod with these labels listens; undefined: none is ready. */
export type FindEndpoint = (
  namespace: string,
  labels: Readonly<Record<string, string>>,
  port: string | number,
) => number | undefined;

export function openServices(api: Api, find: FindEndpoint): Services {
  const ports = new Map<string, Promise<number>>();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The other side is told by the end.
    socket.on('error', () => socket.destroy());
  }

  async function forward(client: Socket, namespace: string, name: string, port: number): Promise<void> {
    keep(client);
    const service = await read<Service>(api, `/api/v1/namespaces/${namespace}/services/${name}`);
    const selector = service?.spec.selector;
    const target = service?.spec.ports.find((each) => each.port === port)?.targetPort ?? port;
    const local = selector === undefined ? undefined : find(namespace, selector, target);
    if (local === undefined) return void client.resetAndDestroy();
    const pod = connect(local, '127.0.0.1');
    keep(pod);
    pod.once('close', () => client.destroy());
    client.once('close', () => pod.destroy());
    client.pipe(pod).pipe(client);
  }

  function open(namespace: string, name: string, port: number): Promise<number> {
    const server = createServer((client) => {
      forward(client, namespace, name, port).catch(() => client.destroy());
    });
    servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  }

  return {
    port(namespace, name, port) {
      const key = `${namespace}/${name}:${port}`;
      const opened = ports.get(key) ?? open(namespace, name, port);
      ports.set(key, opened);
      return opened;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

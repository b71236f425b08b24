// Services of the cluster as listeners on 127.0.0.1: a connection goes to a pod that is ready, as with kube-proxy. The port
// of a Service stays the same from start to start, as long as no other has taken it.

import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { writePrivately } from '../storage/private-file.ts';
import { listenSomewhere } from './free-port.ts';
import type { Service } from './objects.ts';
import type { NodeApi } from './ports.ts';

export interface Services {
  /** The port of 127.0.0.1 for one of a Service, which need not be there yet. */
  port(namespace: string, name: string, port: number): Promise<number>;
  /** Whether a connection to that port would get to a pod now. */
  answers(namespace: string, name: string, port: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Where the ready pods of a Service listen. */
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
    // The other side hears of it by the end.
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
    // Every client is 127.0.0.1: with affinity they all get the same pod.
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
      // Whoever asks again gets another try.
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
      // One that opens now would listen for ever, and keep the process.
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
    // Never written, or cut off: each Service gets another port.
    return {};
  }
}

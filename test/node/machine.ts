// Starts a cluster of one node in the network namespace of this process: etcd, the control plane, containerd, kubelet,
// kube-proxy and CoreDNS. vitest calls `setup` once before the suite.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { archiveOf, IMAGES } from './images.ts';
import { ADDRESS, DNS, ENFORCER, FOLDER, hasEnforcer, ISSUER, KUBECONFIG, kubectl } from './place.ts';

const RUN = join(FOLDER, 'run');
const SOCKET = join(RUN, 'containerd.sock');
const PLUGINS = '/usr/lib/cni';
const PODS = '10.244.0.0/24';
const SERVICES = '10.96.0.0/16';

/** Starts all programs of the cluster. They end with the process namespace. */
export async function setup(): Promise<void> {
  rmSync(RUN, { recursive: true, force: true });
  for (const name of ['pki', 'log', 'net.d', 'cni']) mkdirSync(join(RUN, name), { recursive: true });
  openNetwork();
  writeKeys();
  startControlPlane();
  await until('the API server', () => kubectl(['get', '--raw', '/readyz']) !== undefined);
  startControllers();
  startContainerd();
  await until('containerd', () => succeeds('ctr', ['--address', SOCKET, 'version']));
  for (const name of Object.keys(IMAGES) as (keyof typeof IMAGES)[]) {
    importImage(name);
  }
  startNode();
  const ready = ['wait', '--for=condition=Ready', 'node/skep-node', '--timeout=5s'];
  await until('the node', () => kubectl(ready) !== undefined);
  // The enforcer reads its Node when it starts, so the Node must exist.
  if (hasEnforcer) startEnforcer();
}

/** Imports an image. Also tags it by its digest, because manifests with a digest refer to this name. */
function importImage(name: keyof typeof IMAGES): void {
  const images = ['--address', SOCKET, '--namespace', 'k8s.io', 'images'];
  const image = IMAGES[name];
  run('ctr', [...images, 'import', archiveOf(FOLDER, name)]);
  const listed = execFileSync('ctr', [...images, 'list', `name==${image}`], { encoding: 'utf8' });
  const digest = /sha256:[0-9a-f]{64}/.exec(listed)?.[0];
  if (digest === undefined) throw new Error(`containerd did not import ${image}`);
  run('ctr', [...images, 'tag', image, `${image.replace(/:[^:/]+$/, '')}@${digest}`]);
}

function openNetwork(): void {
  const commands = [
    'link set lo up',
    // Both ends of the pair stay in this namespace: the node only needs an address that pods can reach.
    'link add node0 type veth peer name node1',
    'link set node1 up',
    `addr add ${ADDRESS}/24 dev node0`,
    `addr add ${DNS}/32 dev node0`,
    'link set node0 up',
    'route add default dev node0',
  ];
  for (const command of commands) run('ip', command.split(' '));
  for (const name of ['ipv4/ip_forward', 'bridge/bridge-nf-call-iptables']) {
    writeFileSync(join('/proc/sys/net', name), '1');
  }
  // This process has its own mount namespace, so the mount affects only this process.
  writeFileSync(join(RUN, 'resolv.conf'), `nameserver ${DNS}\n`);
  run('mount', ['--bind', join(RUN, 'resolv.conf'), '/etc/resolv.conf']);
}

function writeKeys(): void {
  const authority = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=node-authority'];
  openssl([...authority, '-keyout', 'ca.key', '-out', 'ca.crt']);
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
  const server = [...names.map((name) => `DNS:${name}`), 'IP:10.96.0.1', `IP:${ADDRESS}`].join(',');
  writeCertificate('apiserver', '/CN=kube-apiserver', server);
  writeCertificate('admin', '/O=system:masters/CN=admin', 'DNS:admin');
  writeCertificate('kubelet', '/O=system:nodes/CN=system:node:skep-node', `DNS:skep-node,IP:${ADDRESS}`);
  openssl(['genrsa', '-out', 'sa.key', '2048']);
  openssl(['rsa', '-in', 'sa.key', '-pubout', '-out', 'sa.pub']);
  writeFileSync(KUBECONFIG, kubeconfig('admin'));
  writeFileSync(pki('kubelet.kubeconfig'), kubeconfig('kubelet'));
}

function writeCertificate(name: string, subject: string, alternatives: string): void {
  writeFileSync(pki(`${name}.ext`), `subjectAltName=${alternatives}\n`);
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  openssl(['req', ...key, '-out', `${name}.csr`, '-subj', subject]);
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`];
  openssl(['x509', '-req', '-in', `${name}.csr`, ...signing, '-out', `${name}.crt`]);
}

function kubeconfig(user: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'node' },
    clusters: [
      { name: 'node', cluster: { server: `https://${ADDRESS}:6443`, 'certificate-authority': pki('ca.crt') } },
    ],
    users: [{ name: user, user: { 'client-certificate': pki(`${user}.crt`), 'client-key': pki(`${user}.key`) } }],
    contexts: [{ name: 'node', context: { cluster: 'node', user } }],
  });
}

function startControlPlane(): void {
  const client = 'http://127.0.0.1:2379';
  start('etcd', [
    ...[`--data-dir=${join(RUN, 'etcd')}`, `--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...['--listen-peer-urls=http://127.0.0.1:2380', '--unsafe-no-fsync'],
  ]);
  start('kube-apiserver', [
    ...[`--etcd-servers=${client}`, `--service-cluster-ip-range=${SERVICES}`, '--allow-privileged=true'],
    ...[`--advertise-address=${ADDRESS}`, `--bind-address=${ADDRESS}`, '--secure-port=6443'],
    ...[`--service-account-issuer=${ISSUER}`, `--service-account-key-file=${pki('sa.pub')}`],
    ...[`--service-account-signing-key-file=${pki('sa.key')}`, '--authorization-mode=Node,RBAC'],
    ...[`--client-ca-file=${pki('ca.crt')}`, `--tls-cert-file=${pki('apiserver.crt')}`],
    ...[`--tls-private-key-file=${pki('apiserver.key')}`, `--kubelet-client-certificate=${pki('admin.crt')}`],
    ...[`--kubelet-client-key=${pki('admin.key')}`, '--kubelet-preferred-address-types=InternalIP'],
  ]);
}

function startControllers(): void {
  const common = [`--kubeconfig=${KUBECONFIG}`, '--leader-elect=false', '--bind-address=127.0.0.1'];
  start('kube-controller-manager', [
    ...[...common, `--service-account-private-key-file=${pki('sa.key')}`, `--root-ca-file=${pki('ca.crt')}`],
    '--use-service-account-credentials=true',
  ]);
  start('kube-scheduler', common);
}

function startContainerd(): void {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const config = [
    ...['version = 2', `root = "${join(RUN, 'images')}"`, `state = "${join(RUN, 'state')}"`],
    ...['[grpc]', `address = "${SOCKET}"`],
    // Inside a container, processes may not lower their out-of-memory score.
    ...[`[${cri}]`, 'restrict_oom_score_adj = true', `sandbox_image = "${IMAGES.pause}"`],
    ...[`[${cri}.containerd.runtimes.runc]`, 'runtime_type = "io.containerd.runc.v2"'],
    ...[`[${cri}.cni]`, `bin_dir = "${PLUGINS}"`, `conf_dir = "${join(RUN, 'net.d')}"`],
  ];
  writeFileSync(join(RUN, 'containerd.toml'), `${config.join('\n')}\n`);
  const ipam = { type: 'host-local', dataDir: join(RUN, 'cni'), ranges: [[{ subnet: PODS }]] };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true };
  const plugins = [
    { ...bridge, ipam: { ...ipam, routes: [{ dst: '0.0.0.0/0' }] } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ];
  const network = { cniVersion: '0.4.0', name: 'pods', plugins };
  writeFileSync(join(RUN, 'net.d/10-pods.conflist'), JSON.stringify(network));
  start('containerd', ['--config', join(RUN, 'containerd.toml')]);
}

function startNode(): void {
  const settings = {
    ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
    ...{ failCgroupV1: false, cgroupDriver: 'cgroupfs', failSwapOn: false, serializeImagePulls: false },
    authentication: { webhook: { enabled: true }, x509: { clientCAFile: pki('ca.crt') } },
    ...{ authorization: { mode: 'Webhook' }, clusterDNS: [DNS], clusterDomain: 'cluster.local' },
    ...{ containerRuntimeEndpoint: `unix://${SOCKET}`, resolvConf: join(RUN, 'resolv.conf') },
    // Disables image garbage collection on a full disk, because deleted images could not be pulled again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    ...{ tlsCertFile: pki('kubelet.crt'), tlsPrivateKeyFile: pki('kubelet.key') },
  };
  writeFileSync(join(RUN, 'kubelet.json'), JSON.stringify(settings));
  start('kubelet', [
    ...[`--config=${join(RUN, 'kubelet.json')}`, `--kubeconfig=${pki('kubelet.kubeconfig')}`],
    ...['--hostname-override=skep-node', `--node-ip=${ADDRESS}`, `--root-dir=${join(RUN, 'kubelet')}`],
  ]);
  start('kube-proxy', [
    ...[`--kubeconfig=${KUBECONFIG}`, '--hostname-override=skep-node', '--proxy-mode=iptables'],
    // 0 leaves these kernel limits unchanged, because a network namespace cannot set them.
    ...[`--cluster-cidr=${PODS}`, '--conntrack-max-per-core=0', '--conntrack-tcp-timeout-established=0'],
    '--conntrack-tcp-timeout-close-wait=0',
  ]);
  const zones = `kubernetes cluster.local in-addr.arpa {\n    kubeconfig ${KUBECONFIG}\n  }`;
  writeFileSync(join(RUN, 'Corefile'), `.:53 {\n  bind ${DNS}\n  errors\n  ${zones}\n}\n`);
  start('coredns', ['-conf', join(RUN, 'Corefile')]);
}

/** Starts kube-router only for NetworkPolicies. The bridge provides routes, kube-proxy provides Services. */
function startEnforcer(): void {
  start(ENFORCER, [
    ...[`--kubeconfig=${KUBECONFIG}`, '--hostname-override=skep-node', `--service-cluster-ip-range=${SERVICES}`],
    ...['--run-firewall=true', '--run-router=false', '--run-service-proxy=false', '--enable-cni=false'],
    '--health-port=0',
  ]);
}

function pki(name: string): string {
  return join(RUN, 'pki', name);
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: join(RUN, 'pki'), stdio: 'ignore' });
}

function start(program: string, args: readonly string[]): void {
  const log = openSync(join(RUN, 'log', basename(program)), 'w');
  // The end of the process namespace also ends the program.
  spawn(program, args, { stdio: ['ignore', log, log] }).unref();
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    run(program, args);
    return true;
  } catch {
    return false;
  }
}

const STARTS_WITHIN_MS = 120_000;

async function until(subject: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`${subject} did not start; its log is in ${join(RUN, 'log')}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

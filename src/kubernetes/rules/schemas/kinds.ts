// Lists the bundled built-in kinds with their names in discovery.

export interface BundledKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  /** Categories that `kubectl get` accepts instead of a kind, such as `all`. */
  readonly categories: readonly string[];
  readonly subresources: readonly ('status' | 'scale')[];
}

type KindRow = Pick<BundledKind, 'kind' | 'plural'> & Partial<BundledKind>;

const ALL = ['all'];
const STATUS = ['status'] as const;
const SCALE = ['scale', 'status'] as const;

export const KUBERNETES_VERSION = '1.36';

/** The kinds as in the discovery documents of KUBERNETES_VERSION. */
export const BUNDLED_KINDS: readonly BundledKind[] = [
  ...group('v1', [
    { kind: 'Namespace', plural: 'namespaces', namespaced: false, shortNames: ['ns'], subresources: STATUS },
    { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
    { kind: 'Secret', plural: 'secrets' },
    { kind: 'Service', plural: 'services', shortNames: ['svc'], categories: ALL, subresources: STATUS },
    { kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'] },
    { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', shortNames: ['pvc'], subresources: STATUS },
    { kind: 'Pod', plural: 'pods', shortNames: ['po'], categories: ALL, subresources: STATUS },
    { kind: 'Event', plural: 'events', shortNames: ['ev'] },
    { kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'] },
    { kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'], subresources: STATUS },
    {
      kind: 'PersistentVolume',
      plural: 'persistentvolumes',
      namespaced: false,
      shortNames: ['pv'],
      subresources: STATUS,
    },
    { kind: 'Node', plural: 'nodes', namespaced: false, shortNames: ['no'], subresources: STATUS },
    { kind: 'Endpoints', plural: 'endpoints', singular: 'endpoints', shortNames: ['ep'] },
    { kind: 'PodTemplate', plural: 'podtemplates' },
    {
      kind: 'ReplicationController',
      plural: 'replicationcontrollers',
      shortNames: ['rc'],
      categories: ALL,
      subresources: SCALE,
    },
  ]),
  ...group('apps/v1', [
    { kind: 'Deployment', plural: 'deployments', shortNames: ['deploy'], categories: ALL, subresources: SCALE },
    { kind: 'StatefulSet', plural: 'statefulsets', shortNames: ['sts'], categories: ALL, subresources: SCALE },
    { kind: 'ReplicaSet', plural: 'replicasets', shortNames: ['rs'], categories: ALL, subresources: SCALE },
    { kind: 'DaemonSet', plural: 'daemonsets', shortNames: ['ds'], categories: ALL, subresources: STATUS },
    { kind: 'ControllerRevision', plural: 'controllerrevisions' },
  ]),
  ...group('batch/v1', [
    { kind: 'Job', plural: 'jobs', categories: ALL, subresources: STATUS },
    { kind: 'CronJob', plural: 'cronjobs', shortNames: ['cj'], categories: ALL, subresources: STATUS },
  ]),
  ...group('rbac.authorization.k8s.io/v1', [
    { kind: 'Role', plural: 'roles' },
    { kind: 'RoleBinding', plural: 'rolebindings' },
    { kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
    { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
  ]),
  ...group('networking.k8s.io/v1', [
    { kind: 'NetworkPolicy', plural: 'networkpolicies', shortNames: ['netpol'] },
    { kind: 'Ingress', plural: 'ingresses', shortNames: ['ing'], subresources: STATUS },
    { kind: 'IngressClass', plural: 'ingressclasses', namespaced: false },
    { kind: 'IPAddress', plural: 'ipaddresses', namespaced: false, shortNames: ['ip'] },
    { kind: 'ServiceCIDR', plural: 'servicecidrs', namespaced: false, subresources: STATUS },
  ]),
  ...group('policy/v1', [
    { kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], subresources: STATUS },
  ]),
  ...group('autoscaling/v2', [
    {
      kind: 'HorizontalPodAutoscaler',
      plural: 'horizontalpodautoscalers',
      shortNames: ['hpa'],
      categories: ALL,
      subresources: STATUS,
    },
  ]),
  ...group('coordination.k8s.io/v1', [{ kind: 'Lease', plural: 'leases' }]),
  ...group('apiextensions.k8s.io/v1', [
    {
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      namespaced: false,
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      subresources: STATUS,
    },
  ]),
  ...group('admissionregistration.k8s.io/v1', [
    {
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      namespaced: false,
      categories: ['api-extensions'],
      subresources: STATUS,
    },
    {
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      namespaced: false,
      categories: ['api-extensions'],
    },
  ]),
  ...group('events.k8s.io/v1', [{ kind: 'Event', plural: 'events', shortNames: ['ev'] }]),
  ...group('storage.k8s.io/v1', [
    { kind: 'StorageClass', plural: 'storageclasses', namespaced: false, shortNames: ['sc'] },
    { kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', namespaced: false, shortNames: ['vac'] },
    { kind: 'VolumeAttachment', plural: 'volumeattachments', namespaced: false, subresources: STATUS },
    { kind: 'CSIDriver', plural: 'csidrivers', namespaced: false },
    { kind: 'CSINode', plural: 'csinodes', namespaced: false },
    { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
  ]),
  ...group('scheduling.k8s.io/v1', [
    { kind: 'PriorityClass', plural: 'priorityclasses', namespaced: false, shortNames: ['pc'] },
  ]),
  ...group('node.k8s.io/v1', [{ kind: 'RuntimeClass', plural: 'runtimeclasses', namespaced: false }]),
  ...group('discovery.k8s.io/v1', [{ kind: 'EndpointSlice', plural: 'endpointslices' }]),
  ...group('certificates.k8s.io/v1', [
    {
      kind: 'CertificateSigningRequest',
      plural: 'certificatesigningrequests',
      namespaced: false,
      shortNames: ['csr'],
      subresources: STATUS,
    },
  ]),
  ...group('apiregistration.k8s.io/v1', [
    {
      kind: 'APIService',
      plural: 'apiservices',
      namespaced: false,
      categories: ['api-extensions'],
      subresources: STATUS,
    },
  ]),
  ...group('flowcontrol.apiserver.k8s.io/v1', [
    { kind: 'FlowSchema', plural: 'flowschemas', namespaced: false, subresources: STATUS },
    {
      kind: 'PriorityLevelConfiguration',
      plural: 'prioritylevelconfigurations',
      namespaced: false,
      subresources: STATUS,
    },
  ]),
  ...group('resource.k8s.io/v1', [
    { kind: 'DeviceClass', plural: 'deviceclasses', namespaced: false },
    { kind: 'ResourceClaim', plural: 'resourceclaims', subresources: STATUS },
    { kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' },
    { kind: 'ResourceSlice', plural: 'resourceslices', namespaced: false },
  ]),
];

function group(apiVersion: string, rows: readonly KindRow[]): BundledKind[] {
  return rows.map((row) => ({
    apiVersion,
    singular: row.kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    subresources: [],
    ...row,
  }));
}

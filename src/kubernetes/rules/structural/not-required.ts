// Lists fields of built-in kinds that are published as required, although an API server accepts objects without them.
// Measured by sending an object of every type to Kubernetes 1.36.3. Fields that could not be tested,
// because the server reports another fault first, are listed too.

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.apps.v1.ControllerRevision': ['revision'],
  'io.k8s.api.batch.v1.PodFailurePolicy': ['rules'],
  'io.k8s.api.core.v1.ClusterTrustBundleProjection': ['path'],
  'io.k8s.api.core.v1.ConfigMapNodeConfigSource': ['namespace', 'name', 'kubeletConfigKey'],
  'io.k8s.api.core.v1.Event': ['metadata'],
  'io.k8s.api.core.v1.HTTPHeader': ['value'],
  'io.k8s.api.core.v1.ISCSIPersistentVolumeSource': ['lun'],
  'io.k8s.api.core.v1.ISCSIVolumeSource': ['lun'],
  'io.k8s.api.core.v1.LimitRangeSpec': ['limits'],
  'io.k8s.api.core.v1.PodCertificateProjection': ['signerName', 'keyType'],
  'io.k8s.api.core.v1.PreferredSchedulingTerm': ['preference'],
  'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource': ['secretRef'],
  'io.k8s.api.core.v1.ScaleIOVolumeSource': ['secretRef'],
  'io.k8s.api.core.v1.SleepAction': ['seconds'],
  'io.k8s.api.core.v1.Sysctl': ['value'],
  'io.k8s.api.core.v1.TypedLocalObjectReference': ['kind', 'name'],
  'io.k8s.api.discovery.v1.ForZone': ['name'],
  'io.k8s.api.events.v1.EventSeries': ['count', 'lastObservedTime'],
  'io.k8s.api.flowcontrol.v1.GroupSubject': ['name'],
  'io.k8s.api.flowcontrol.v1.LimitResponse': ['type'],
  'io.k8s.api.flowcontrol.v1.ServiceAccountSubject': ['namespace', 'name'],
  'io.k8s.api.flowcontrol.v1.UserSubject': ['name'],
  'io.k8s.api.resource.v1.CapacityRequestPolicyRange': ['min'],
  'io.k8s.api.resource.v1.Counter': ['value'],
  'io.k8s.api.resource.v1.DeviceCapacity': ['value'],
  'io.k8s.api.resource.v1.DeviceClass': ['spec'],
  'io.k8s.api.resource.v1.ResourceClaim': ['spec'],
  'io.k8s.api.resource.v1.ResourceClaimTemplate': ['spec'],
  'io.k8s.api.resource.v1.ResourceClaimTemplateSpec': ['spec'],
  'io.k8s.api.resource.v1.ResourcePool': ['generation'],
  'io.k8s.api.storage.v1.CSIDriver': ['spec'],
  'io.k8s.api.storage.v1.CSINode': ['spec'],
  'io.k8s.api.storage.v1.CSINodeSpec': ['drivers'],
  'io.k8s.api.storage.v1.TokenRequest': ['audience'],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion': ['served', 'storage'],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion': ['conversionReviewVersions'],
};

export function notRequired(type: string): readonly string[] {
  return FIELDS[type] ?? [];
}

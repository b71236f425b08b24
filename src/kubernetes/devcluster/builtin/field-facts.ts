// Adds to the published schemas of built-in kinds which optional scalars are pointers in Go, and which empty values are
// omitted or written as null. Source: Kubernetes 1.36 (k8s.io/api).

/**
 * Optional scalars that keep an explicit zero value. Other optional scalars drop it. Quantities, times and
 * int-or-strings count as scalars.
 */
const POINTERS = `
  apps.v1.DaemonSetSpec: revisionHistoryLimit
  apps.v1.DaemonSetStatus: collisionCount
  apps.v1.DeploymentSpec: progressDeadlineSeconds replicas revisionHistoryLimit
  apps.v1.DeploymentStatus: collisionCount terminatingReplicas
  apps.v1.ReplicaSetSpec: replicas
  apps.v1.ReplicaSetStatus: terminatingReplicas
  apps.v1.RollingUpdateDaemonSet: maxSurge maxUnavailable
  apps.v1.RollingUpdateDeployment: maxSurge maxUnavailable
  apps.v1.RollingUpdateStatefulSetStrategy: maxUnavailable partition
  apps.v1.StatefulSetSpec: replicas revisionHistoryLimit
  apps.v1.StatefulSetStatus: collisionCount
  autoscaling.v2.HPAScalingRules: selectPolicy stabilizationWindowSeconds tolerance
  autoscaling.v2.HorizontalPodAutoscalerSpec: minReplicas
  autoscaling.v2.HorizontalPodAutoscalerStatus: lastScaleTime observedGeneration
  autoscaling.v2.MetricTarget: averageUtilization averageValue value
  autoscaling.v2.MetricValueStatus: averageUtilization averageValue value
  batch.v1.CronJobSpec: failedJobsHistoryLimit startingDeadlineSeconds successfulJobsHistoryLimit suspend
    timeZone
  batch.v1.CronJobStatus: lastScheduleTime lastSuccessfulTime
  batch.v1.JobSpec: activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy
    manualSelector maxFailedIndexes parallelism podReplacementPolicy suspend ttlSecondsAfterFinished
  batch.v1.JobStatus: completionTime failedIndexes ready startTime terminating
  batch.v1.PodFailurePolicyOnExitCodesRequirement: containerName
  batch.v1.SuccessPolicyRule: succeededCount succeededIndexes
  coordination.v1.LeaseSpec: acquireTime holderIdentity leaseDurationSeconds leaseTransitions preferredHolder
    renewTime strategy
  core.v1.AppArmorProfile: localhostProfile
  core.v1.AzureDiskVolumeSource: cachingMode fsType kind readOnly
  core.v1.CSIVolumeSource: fsType readOnly
  core.v1.ClientIPConfig: timeoutSeconds
  core.v1.ClusterTrustBundleProjection: name optional signerName
  core.v1.ConfigMap: immutable
  core.v1.ConfigMapEnvSource: optional
  core.v1.ConfigMapKeySelector: optional
  core.v1.ConfigMapProjection: optional
  core.v1.ConfigMapVolumeSource: defaultMode optional
  core.v1.Container: restartPolicy
  core.v1.ContainerStatus: started stopSignal
  core.v1.DownwardAPIVolumeFile: mode
  core.v1.DownwardAPIVolumeSource: defaultMode
  core.v1.EmptyDirVolumeSource: sizeLimit
  core.v1.EphemeralContainer: restartPolicy
  core.v1.FCVolumeSource: lun
  core.v1.FileKeySelector: optional
  core.v1.GRPCAction: service
  core.v1.HostPathVolumeSource: type
  core.v1.ISCSIVolumeSource: initiatorName
  core.v1.KeyToPath: mode
  core.v1.Lifecycle: stopSignal
  core.v1.LoadBalancerIngress: ipMode
  core.v1.PersistentVolumeClaimSpec: storageClassName volumeAttributesClassName volumeMode
  core.v1.PersistentVolumeClaimStatus: currentVolumeAttributesClassName
  core.v1.PodCertificateProjection: maxExpirationSeconds
  core.v1.PodDNSConfigOption: value
  core.v1.PodResourceClaim: resourceClaimName resourceClaimTemplateName
  core.v1.PodResourceClaimStatus: resourceClaimName
  core.v1.PodSchedulingGroup: podGroupName
  core.v1.PodSecurityContext: fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy
    supplementalGroupsPolicy
  core.v1.PodSpec: activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers
    hostnameOverride preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace
    terminationGracePeriodSeconds
  core.v1.PodStatus: startTime
  core.v1.PortStatus: error
  core.v1.Probe: terminationGracePeriodSeconds
  core.v1.ProjectedVolumeSource: defaultMode
  core.v1.ResourceHealth: message
  core.v1.SeccompProfile: localhostProfile
  core.v1.Secret: immutable
  core.v1.SecretEnvSource: optional
  core.v1.SecretKeySelector: optional
  core.v1.SecretProjection: optional
  core.v1.SecretVolumeSource: defaultMode optional
  core.v1.SecurityContext: allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup
    runAsNonRoot runAsUser
  core.v1.ServiceAccount: automountServiceAccountToken
  core.v1.ServiceAccountTokenProjection: expirationSeconds
  core.v1.ServicePort: appProtocol
  core.v1.ServiceSpec: allocateLoadBalancerNodePorts internalTrafficPolicy ipFamilyPolicy loadBalancerClass
    trafficDistribution
  core.v1.Toleration: tolerationSeconds
  core.v1.TopologySpreadConstraint: minDomains nodeAffinityPolicy nodeTaintsPolicy
  core.v1.TypedLocalObjectReference: apiGroup
  core.v1.TypedObjectReference: apiGroup namespace
  core.v1.VolumeMount: mountPropagation recursiveReadOnly
  core.v1.VolumeMountStatus: recursiveReadOnly
  core.v1.WindowsSecurityContextOptions: gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName
  networking.v1.HTTPIngressPath: pathType
  networking.v1.IngressPortStatus: error
  networking.v1.IngressSpec: ingressClassName
  networking.v1.NetworkPolicyPort: endPort port protocol
  policy.v1.PodDisruptionBudgetSpec: maxUnavailable minAvailable unhealthyPodEvictionPolicy
  apiextensions.v1.CustomResourceDefinitionVersion: deprecationWarning
  apiextensions.v1.CustomResourceSubresourceScale: labelSelectorPath
  apiextensions.v1.JSONSchemaProps: $ref maxItems maxLength maxProperties maximum minItems minLength
    minProperties minimum multipleOf x-kubernetes-list-type x-kubernetes-map-type
    x-kubernetes-preserve-unknown-fields
  apiextensions.v1.ServiceReference: path port
  apiextensions.v1.ValidationRule: optionalOldSelf reason
  apiextensions.v1.WebhookClientConfig: url
  meta.v1.ManagedFieldsEntry: time
  meta.v1.ObjectMeta: deletionGracePeriodSeconds deletionTimestamp
  meta.v1.OwnerReference: blockOwnerDeletion controller
`;

/** Strings with the published default `""` that are omitted if empty. */
const LEFT_OUT = `
  core.v1.ConfigMapEnvSource: name
  core.v1.ConfigMapKeySelector: name
  core.v1.ConfigMapProjection: name
  core.v1.ConfigMapVolumeSource: name
  core.v1.LocalObjectReference: name
  core.v1.SecretEnvSource: name
  core.v1.SecretKeySelector: name
  core.v1.SecretProjection: name
`;

/** Lists, maps, pointers and times that are written as `null` if absent. */
const WRITTEN_AS_NULL = `
  apps.v1.DaemonSetCondition: lastTransitionTime
  apps.v1.DaemonSetSpec: selector
  apps.v1.DeploymentCondition: lastTransitionTime lastUpdateTime
  apps.v1.DeploymentSpec: selector
  apps.v1.ReplicaSetCondition: lastTransitionTime
  apps.v1.ReplicaSetSpec: selector
  apps.v1.StatefulSetCondition: lastTransitionTime
  apps.v1.StatefulSetSpec: selector
  autoscaling.v2.HorizontalPodAutoscalerCondition: lastTransitionTime
  autoscaling.v2.HorizontalPodAutoscalerStatus: currentMetrics
  batch.v1.JobCondition: lastProbeTime lastTransitionTime
  batch.v1.PodFailurePolicy: rules
  batch.v1.PodFailurePolicyOnExitCodesRequirement: values
  batch.v1.SuccessPolicy: rules
  core.v1.CephFSVolumeSource: monitors
  core.v1.ContainerStateRunning: startedAt
  core.v1.ContainerStateTerminated: finishedAt startedAt
  core.v1.Event: eventTime firstTimestamp lastTimestamp
  core.v1.EventSeries: lastObservedTime
  core.v1.LimitRangeSpec: limits
  core.v1.NamespaceCondition: lastTransitionTime
  core.v1.NodeAllocatableResourceClaimStatus: resources
  core.v1.NodeSelector: nodeSelectorTerms
  core.v1.PersistentVolumeClaimCondition: lastProbeTime lastTransitionTime
  core.v1.PodCondition: lastProbeTime lastTransitionTime
  core.v1.PodExtendedResourceClaimStatus: requestMappings
  core.v1.PodSpec: containers
  core.v1.ProjectedVolumeSource: sources
  core.v1.RBDVolumeSource: monitors
  core.v1.ScaleIOVolumeSource: secretRef
  core.v1.TypedLocalObjectReference: apiGroup
  core.v1.TypedObjectReference: apiGroup
  events.v1.Event: deprecatedFirstTimestamp deprecatedLastTimestamp eventTime
  events.v1.EventSeries: lastObservedTime
  networking.v1.HTTPIngressPath: pathType
  networking.v1.HTTPIngressRuleValue: paths
  rbac.v1.ClusterRole: rules
  rbac.v1.PolicyRule: verbs
  rbac.v1.Role: rules
  apiextensions.v1.CustomResourceDefinitionCondition: lastTransitionTime
  apiextensions.v1.CustomResourceDefinitionSpec: versions
  apiextensions.v1.CustomResourceDefinitionStatus: conditions storedVersions
  apiextensions.v1.WebhookConversion: conversionReviewVersions
  meta.v1.Condition: lastTransitionTime
`;

/** The lists of this file, by schema name and field. */
export interface FieldFacts {
  readonly isPointer: (schemaName: string, field: string) => boolean;
  readonly isLeftOut: (schemaName: string, field: string) => boolean;
  readonly isWrittenAsNull: (schemaName: string, field: string) => boolean;
}

export const FIELD_FACTS: FieldFacts = {
  isPointer: lookup(POINTERS),
  isLeftOut: lookup(LEFT_OUT),
  isWrittenAsNull: lookup(WRITTEN_AS_NULL),
};

function lookup(list: string): (schemaName: string, field: string) => boolean {
  const fields = new Map<string, Set<string>>();
  let current = new Set<string>();
  for (const word of list.split(/\s+/)) {
    if (!word.endsWith(':')) current.add(word);
    else {
      current = new Set();
      fields.set(word.slice(0, -1), current);
    }
  }
  return (schemaName, field) => fields.get(shortName(schemaName))?.has(field) ?? false;
}

function shortName(schemaName: string): string {
  const prefixes = ['io.k8s.api.', 'io.k8s.apimachinery.pkg.apis.', 'io.k8s.apiextensions-apiserver.pkg.apis.'];
  const prefix = prefixes.find((candidate) => schemaName.startsWith(candidate)) ?? '';
  return schemaName.slice(prefix.length);
}

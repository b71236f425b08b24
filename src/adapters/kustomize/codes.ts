// Defines failure codes of the program that builds kustomizations.

export const KUSTOMIZE_CODES = {
  'kustomize-missing':
    'The manifests contain a kustomization, and the PATH has neither `kustomize` nor `kubectl`: install one of them on the machine that runs skep (docs/layouts.md). The objects of the kustomization are kept unchanged, and nothing of the source is deleted.',
  'kustomize-failed':
    'kustomize refused a kustomization; the message quotes it. Correct the file that it names. The objects of the kustomization are kept unchanged, and nothing of the source is deleted.',
  'kustomize-too-costly':
    'Building a kustomization took more time, memory or output than it may: split it. Its objects are kept unchanged, and nothing of the source is deleted.',
} as const;

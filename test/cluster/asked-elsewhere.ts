// Rights that no story of a few objects asks for, and what does.

/** `verb group/resource name`, as `rightsOf` gives them. */
export const ASKED_OF_MANY: Readonly<Record<string, string>> = {
  'list events.k8s.io/events': 'the page of a resource in the console',
  'get /pods/log': 'the page of a resource in the console',
  'get /pods/proxy': 'the page of a resource in the console',
  'update /configmaps skep-default-suspension': 'a suspension by the console',
  ...Object.fromEntries(
    ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'].map(
      (resource) => [`list admissionregistration.k8s.io/${resource}`, 'answers of dry runs that are remembered'],
    ),
  ),
  ...Object.fromEntries(
    ['approval', 'inventory', 'quarantine'].flatMap((record) =>
      Array.from({ length: 15 }, (_, index) => `/configmaps skep-default-${record}-${index + 1}`).flatMap((part) => [
        [`get ${part}`, 'thousands of objects'],
        [`update ${part}`, 'thousands of objects'],
      ]),
    ),
  ),
};

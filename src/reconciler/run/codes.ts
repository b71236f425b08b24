// Lists the codes of the problems that a run finds, with their meanings.

export const RECONCILE_CODES = {
  'document-not-object': 'A document is not a mapping: a manifest starts with `apiVersion`, `kind` and `metadata`.',
  'link-not-followed':
    'A symbolic link or submodule may stand for manifests. Links are not followed; nothing of the source is deleted.',
  'file-too-large':
    'A file of manifests has more than 4 MiB and was not read: split it into several files. Nothing of its source is deleted until then.',
  'object-too-large':
    'An object has more than 3 MiB as JSON, which no API server accepts: split its content over several objects. It is kept unchanged in the cluster until then.',
  'manifests-too-large':
    'The manifests of a source come to more than 256 MiB, so none were used and its objects are kept unchanged: narrow `path`, or split the source.',
  'source-path-not-found':
    'The commit has no files at the path of the source. Its objects are kept unchanged; check `path`.',
  'missing-identity':
    'A document lacks `apiVersion`, `kind` or `metadata.name`, so it cannot be identified: add the missing fields.',
  'invalid-namespace':
    'The namespace is missing, not allowed for this kind, or not a valid name: correct metadata.namespace.',
  'variable-unknown': `An expression names a variable without a value and has no default: add the value to \`substitute\` of the source, write \`\${NAME:=default}\`, or begin with \`$\${\` for a text that is to stay. The object is kept unchanged.`,
  'variable-expression': `A text has \`\${\` that does not begin an expression that skep replaces: write \`\${NAME}\` or \`\${NAME:=default}\`, or begin with \`$\${\` for a text that is to stay. The object is kept unchanged.`,
  'variable-in-key': 'The key of a field contains an expression: values alone are replaced. Write the key itself.',
  'variable-secret':
    'The value of a Secret would be put into an object that is not a Secret, and could be read there: use the variable in `data` or `stringData` of a Secret, or move the value to a ConfigMap. The object is kept unchanged.',
  'variables-too-long':
    'The values of variables make the texts of one file many times as long as the file: use shorter values, or fewer of them. The object is kept unchanged.',
  'variables-not-checked':
    'An object contains values that only the cluster has, and something about them could not be checked without it; `substitute.values` of the source are known here, too. A run checks the object.',
  'variables-unreadable':
    'A ConfigMap or Secret of `substitute.from` does not exist in the home namespace: create it, or set `optional: true`. The objects of the source are kept unchanged.',
  'kustomization-invalid':
    'A kustomization is not one that kustomize could read: correct the field that the message is about. Nothing of the source is deleted until then.',
  'kustomization-refused':
    'A kustomization uses a field that skep refuses, as it would run programs, render charts or change how objects are read (docs/layouts.md): the message names a replacement. Nothing of the source is deleted until then.',
  'kustomization-outside':
    'A kustomization names a file or folder outside of its repository: copy it into the repository. skep fetches no remote bases. Nothing of the source is deleted until then.',
  'kustomization-path':
    'A path in a kustomization leads to nothing, to something of another sort, over a symbolic link, or back to itself: correct the path. Nothing of the source is deleted until then.',
  'kustomization-too-large':
    'A kustomization has more files or bytes, or a source has more kustomizations, than are built: split it. Nothing of the source is deleted until then.',
  'kustomization-sealed':
    'A file of a kustomization is encrypted with SOPS: move it out of the folder of the kustomization, as a build would break its signature. Nothing of the source is deleted until then.',
  'unknown-kind':
    'No built-in kind, no kind of skep, and no CustomResourceDefinition of the source or the cluster has this apiVersion and kind: correct it, or add the definition.',
  'kind-not-checked':
    'Objects of a kind are not checked, because its schema is not available: name a folder of CustomResourceDefinitions with `--schemas`. A sync reads them from the cluster. If the cluster serves a kind without a definition, its objects are applied as they are written.',
  'more-problems':
    'An object has more than 200 faults: errors are shown before warnings, and the message states the number of the others. Correct the shown ones first.',
  'duplicate-resource': 'The same object is declared twice: the problem names both places; remove one of them.',
  'lock-name-twice':
    'A ToolLock has two definitions of the same name: remove one of them. Its server is kept unchanged.',
  'lock-definition-unreadable':
    'A definition in a ToolLock has a value that cannot come from a server, such as half a surrogate pair: write the lock again with `skep lock`. Its server is kept unchanged.',
  'lock-too-large':
    'The names and digests of a ToolLock are more than there is room for: 2.4 MB in the ConfigMaps of a proxy, and 0.8 MB in the configuration of a virtual server for an MCPServerEntry. Split the server, which is kept unchanged.',
  'lock-text-doubtful':
    'A definition in a ToolLock has a text that reads like instructions to a model, or hidden characters: look at it before you accept it. The finding proves nothing either way.',
  'lock-server-missing':
    'A ToolLock is named after a server that is not declared: a lock has the name and the namespace of its server. The lock does not count.',
  'lock-other-source':
    'A ToolLock is declared by another source than its server. It does not count: move it to the source of the server.',
  'lock-idle':
    'A ToolLock has no effect, since the annotation skep.dev/tools-lock of its server is off or not set: set it to `enforce` or `report`.',
  'lock-place-differs':
    'The server of a ToolLock now runs another image, or is at another URL, than the definitions came from: see with `skep lock --diff` whether they are still the same.',
  'lock-digest-differs':
    'A ToolLock was written for another digest of the image than the one that its server gets: the tag has moved. See with `skep lock --diff` whether the definitions are still the same, and write the lock again.',
  'secret-plaintext':
    '`skep validate` only: a manifest holds the values of a Secret, and all who can read the repository can read them. Encrypt it (docs/secrets.md), or create the Secret in the cluster and name it here.',
  'reference-missing':
    'A resource names another that exists neither in Git nor in the cluster, or, for `skep validate`, not among the manifests: correct the name, or add it. The resource is applied; its children are kept unchanged.',
  'reference-unknown':
    'A kind that a resource refers to could not be listed, or the object that it refers to could not be read, so it is unknown whether the reference leads anywhere: allow the instance to list and get that kind. The children are kept unchanged, even if they do not need the object.',
  'reference-key-missing':
    'A ConfigMap or Secret that a resource names lacks the key: correct one of the two. The children are kept unchanged.',
  'image-not-enforced':
    'An MCPRegistry of the namespace sets enforceServers, and an image that would run is in no MCPRegistry of the namespace: add it to one, or run an image that is in one. Images of podTemplateSpec count, too. The children are kept unchanged.',
  'images-not-checked':
    'An MCPRegistry enforces images, but its content is not in the manifests: a sync checks the images, `skep validate` cannot.',
  'image-unverified':
    'No signature of an image is by the signer whom a rule of images.verify, or the provenance of its catalogue entry, names: the message names the expectation and the signatures that were found. Sign the image, run one that is signed, or correct the rule. Under `require` the children are kept unchanged.',
  'image-signer-unknown':
    'Images of the namespace are verified, and nothing says who signs this one: add a rule to images.verify of skep.yaml, or a provenance to its catalogue entry. Under `require` the children are kept unchanged.',
  'image-not-checked':
    'The signatures of an image could not be read from its registry; the message says why. A run tries again. An image that was verified before stays unchanged; under `require` the children are kept unchanged until then.',
  'images-verified-later':
    '`skep validate` only: plans and runs verify images with their registries. Nothing is requested here.',
  'source-address-private':
    'A registry source is inside a private network, to which runs do not connect by default: name its range in outbound.allowPrivate of skep.yaml.',
  'image-unknown':
    'An MCPRegistry enforces images, but its catalogue could not be read: the children are kept unchanged until it can.',
  'held-by-invalid':
    'The resource depends on an invalid one: correct that one. Until then it and its children are kept unchanged.',
  'needs-refused':
    'The resource names another that cannot be used itself: correct that one. Until then the children of both are kept unchanged.',
  'child-foreign':
    'A resource would create an object that exists already and belongs to another owner, or that another instance keeps: rename the resource, or remove the other object. Its children are kept unchanged.',
  'child-denied':
    'A policy denies an object that the resource would create; its own problem is named `policy/<name>`. Its children are kept unchanged.',
  'child-collision': 'Two resources would create the same object: rename one of them.',
  'field-conflict':
    'Another field manager has set a field to another value than Git declares: with apply.conflicts report it stays so, and the rest is applied; a field of another instance always does.',
  'field-set-back':
    'Another field manager had set a field to another value than Git declares, or a field that blocks a declared one, and Git wins: `skep.dev/ignore-fields` in the manifest leaves fields to others, `apply.conflicts: report` all of them.',
  'ignore-fields-invalid':
    'The annotation `skep.dev/ignore-fields` names something that is not the path of a field that others may set: write paths as plans show them, separated by commas.',
  'kept-invalid':
    'A custom resource is not valid with the fields that other field managers keep: it and its children are kept unchanged. Remove the fields there, declare their values, or set apply.conflicts to force.',
  'immutable-field':
    'A field cannot be changed once the object exists: the message says whether, and how, the object may be replaced.',
  'replace-unfinished':
    'An object that is replaced was deleted, but something keeps it (a finalizer, a pod that ends slowly); the next run creates it.',
  'preview-forbidden':
    '`skep plan` may not make dry runs here, so the server has checked none of the changes: a run needs the rights to make them.',
  'namespace-not-allowed': 'The namespace is not among `namespaces` of skep.yaml: the resource is not touched.',
  'source-not-allowed':
    'A source declares an object of a kind, or in a namespace, that its `allow` in skep.yaml leaves out: widen it, or move the object. Its objects in the cluster are kept.',
  'pattern-invalid': 'A pattern in skep.yaml is malformed (an open class or brace): close it.',
  'kind-not-served': 'The cluster does not serve this kind: install its CustomResourceDefinition (`skep crds`).',
  'record-declared':
    'A source declares an object with the name of a record that an instance keeps for itself (lease, key, approvals, ...): it is not applied, because it could approve its own deletions. Give the object another name.',
  'resource-foreign':
    'Another instance keeps the object, whatever its kind, so it is not changed. Other objects in a namespace of that instance are applied. Declare it for one of the two, or take it over with `skep adopt`.',
  overtaken:
    'During a run, the labels or annotations by which an object belongs to this instance were changed: it was kept unchanged, and the next run decides again.',
  blocked:
    'A change was not tried because a change that it depends on failed in the same run: correct the fault that is reported for that one.',
  suspended:
    '`skep suspend` keeps the instance from writing: a run that was under way began nothing more, and `skep adopt --yes` is refused, until `skep resume`.',
  'adopt-operator-running':
    "ToolHive's operator still renews its lease, so it would undo the adoption: scale it to zero first.",
  'approval-not-waiting':
    '`skep approve` got the hash of a list of deletions that does not wait (any more): `skep plan` shows the lists that wait now.',
  'plan-invalid':
    'The file is not a plan file, was cut off or was changed after it was created. Plan again; exit code 64.',
  'plan-version':
    'The plan file was created by a later skep, in a format that this release does not read; exit code 64. Apply it with the release that created it.',
  'plan-foreign':
    'The plan file was made for another instance or another cluster. Nothing was applied: look at `name`, the context and the home namespace, or plan again here.',
  'plan-mismatch':
    'The plan file was made by another build of skep, or with other settings: it would be rendered differently here. Nothing was applied; plan again.',
  'plan-homeless': 'The home namespace of the instance (its Lease, its ApplySet) does not exist: create it.',
  'plan-stale':
    'The state has changed since the plan was made: the object, or something that it depends on, differs from the planned state. It and all that depends on it are kept unchanged; plan again.',
  'plan-other':
    'A run would make a change that the applied plan file does not have, or a deletion although something of the plan is stale. The next plan has it.',
  'inventory-full':
    'The sources declare more objects than the inventory of one instance can record: split them over several instances.',
  'record-full':
    'An approval or a rollback is larger than the records of an instance can be: raise `apply.maxDeletes` for one run, or go back with fewer sources at once.',
  'sources-unknown':
    'This instance has read none of the sources of skep.yaml before: another instance of the same `name` may be at work on the cluster. Nothing is written; give one of the two another `name`, or let this one continue with `skep approve`.',
  'source-at-fault':
    'Something of the source could not be applied in this run, so nothing of it was deleted: correct that, or approve exactly the listed deletions with `skep approve`.',
  'plan-required':
    '`plans.require` is signed: runs change nothing, the change waits for `skep apply` of a signed plan file, and `skep adopt --yes` is refused; exit code 5.',
  'plan-rolled-back':
    'The plan file is from before a rollback, and has a commit that the rollback took out of use: nothing was applied. Plan again; `skep rollback --clear` ends a rollback.',
  'plan-expired': 'The plan file is older than `plans.expiresHours` of skep.yaml. Nothing was applied; plan again.',
  'snapshot-invalid':
    'The file is not a snapshot of the state, was cut off or was changed; exit code 64. Fetch it again from `/snapshot`.',
  'snapshot-version':
    'The snapshot was made by a later skep in a format that this one does not read; exit code 64. Use the same release for both.',
  'snapshot-foreign':
    'The snapshot is of another instance than skep.yaml, so it cannot be used for a plan. Take the snapshot of the instance whose `name` skep.yaml has.',
  locked:
    'Another run of this instance holds the lease and renews it; exit code 6. Wait for its end, or look for a second process of the same `name`: `skep status` says who it is.',
  'lock-lost':
    'The lease expired during a run (a stopped or starved process): nothing more was written, and the next run continues. If that happens again, the process gets too little CPU, or the API server is slow.',
  'quarantine-unreadable':
    'The ConfigMap `skep-<name>-quarantine`, which records the commits that a rollback took out of use, was damaged. Nothing runs until `skep rollback --clear`.',
  'record-of-newer-release':
    'A newer release has written a record of this instance in a format that this one does not read: run that release again, or read docs/upgrade.md on going back.',
  'rollback-impossible':
    'The run to go back to has read none of the sources that skep.yaml names now: go back in Git instead.',
  'rollback-changed':
    'Nothing was written: between the question and its answer a source got another commit than the question named. Ask again.',
  'run-not-found': 'The history has no run, or several, whose id starts like that: `skep history` lists them.',
  'trigger-unknown-registry':
    '`skep trigger` names an MCPRegistry that is not in the cluster: is it the right namespace, and applied yet?',
  'trigger-declared':
    'The annotation `sync-trigger` of the MCPRegistry is in Git, or another tool has set it: change it there.',
  'status-not-written': 'The status of a resource could not be written; the next run tries again.',
  'event-not-written':
    'The Event about a new failure could not be written; nothing depends on it. May the instance create events?',
} as const;

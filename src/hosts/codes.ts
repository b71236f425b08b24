// Lists the codes and meanings of all Failures that src/hosts throws.

export const MAIN_CODES = {
  'audit-lines-lost':
    'Audit events could not be written for a while, their buffer is full, and the newest events are lost. Make room on the disk, or let the log collection read again. When events can be written again, the log says how many were lost.',
  usage: 'The command has wrong arguments: a file or folder that does not exist, or an unknown version; exit code 64.',
  'config-invalid': 'skep.yaml has problems, each with file, line and column; exit code 64.',
  'setting-rule':
    'Settings of skep.yaml contradict each other: the message names the rule; change or remove one of the named settings.',
  'registry-list-refused':
    'A registry did not send the list of its servers that `skep clients` requested; the message has its status and reason.',
  'watch-failed':
    'The operating system cannot watch so many folders: raise the limit (fs.inotify.max_user_watches on Linux), or name fewer.',
  'secret-file-open':
    'Any user of the machine can write to a file with tokens or passwords, and add their own. Remove that right: chmod o-w.',
  'catalogue-not-configured':
    'MCPRegistries need a database, and skep.yaml names none: set `catalogue.database`, or `databaseConfig` of the registry, or take the registry out of the repository.',
  'secret-file-unreadable':
    'A file with a password, keys, policies or a configuration cannot be read: it is missing, the user who runs skep may not read it, or it is not UTF-8 text. Correct its path in the configuration, its owner and mode, or its encoding.',
  'state-not-saved':
    'A file in `stateDir` cannot be written: a full disk, or a folder of another user. The run is complete, and the next run has to compute more again. Give the instance a writable folder of its own.',
  'state-folder-unsafe':
    'The folder for state is a link, is tracked by Git or, for skep dev, belongs to another user, who could make skep overwrite files or read its tokens. Delete the folder, or name another folder: `stateDir` in skep.yaml, `--data` for skep dev.',
  'history-not-recorded':
    'A run is complete, but its record could not be stored; a long-running process tries again after the next run.',
  'file-not-written':
    'A requested file cannot be written: its folder is missing, the disk is full, or rights are missing. Create the folder, or name another file.',
  'snapshot-mismatch': 'skep.yaml has a source that the snapshot does not contain: wait for the next snapshot.',
  'snapshot-unavailable': 'The URL does not serve a snapshot; the message says why.',
  'plan-incomplete':
    'A source or a kind could not be read, so no plan file was written: its objects would look deleted.',
  'plan-commit-unknown':
    'The plan file is not signed, the ref of its source does not name its commit, and no run has read that commit before: merge it, plan again, or sign the plan.',
  'plan-commit-gone':
    'The repository no longer serves the commit of the plan (for example after a force-push), or its tag names another commit: plan again.',
  'source-too-costly':
    'Reading the manifests of a source takes more time or memory than a source may use; the message names the file. The last good commit of the source stays in use, and no object of the source is deleted. Split the file, or write simpler rules.',
  'sync-thread-failed':
    'The thread of the registry service that reads the sources ended early, for example because it lacked memory; the message says why. A failed attempt is recorded for each source that the thread has not read, and each of them is then read by a thread of its own. The entries that were read before are still served. Give the service more memory, or make the sources smaller.',
  'source-late':
    'A source did not respond while a run waited for it. The run uses the last commit of the source and deletes none of its objects; another run follows when the source responds.',
  'rollback-history-unknown':
    'The history before the commit that a rollback replaced could not be read: older commits are refused only if runs have used them.',
  'run-deadline':
    'A run took longer than `apply.deadlineSeconds`; the message says how many changes were not begun, and the failures next to it name the servers that did not respond. The next run continues with the remaining changes. Give runs more time if the fleet is that large.',
  'run-stopped': 'The process was stopped during a run: changes that had not begun are left to the next run.',
  'listen-failed':
    'The address or port is taken, or this user may not listen on it. Choose another address (`http.address`, `listen.port`, `--port`), or stop the process that listens there; ports below 1024 need additional rights.',
  'dev-first-run-failed': '`skep dev --once` found problems; the lines before list them.',
  'policies-invalid':
    'The files of `--policies`, or of `policies` in skep.yaml, would be refused by an API server; the message has a line for each problem. Correct them: no policy is evaluated unless all are valid.',
} as const;

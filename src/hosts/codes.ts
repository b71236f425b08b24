// The codes of all Failures that the command line itself raises, with their meanings.

export const MAIN_CODES = {
  'audit-lines-lost':
    'Audit events could not be written for so long that the buffer is full, and the newest ones are lost: make room on the disk, or let the log collection read again. The log says how many were lost when events are written again.',
  usage:
    'The command was called wrongly: a file or folder that does not exist, a version that is not known; exit code 64.',
  'config-invalid': 'skep.yaml has problems, each with file, line and column; exit code 64.',
  'setting-rule':
    'Settings of skep.yaml do not go together: the message says what must hold; change or remove one of those that it names.',
  'registry-list-refused':
    'A registry does not send the list of its servers that `skep clients` asked for; the message has its status and reason.',
  'watch-failed':
    'The system does not watch that many folders: raise its limit (fs.inotify.max_user_watches on Linux), or name fewer.',
  'secret-file-open':
    'Any user of the machine can write a file that holds tokens or passwords, and so let themselves in: chmod o-w.',
  'catalogue-not-configured':
    'MCPRegistries need a database, and skep.yaml names none: set `catalogue.database`, or `databaseConfig` of the registry, or take the registry out of the repository.',
  'secret-file-unreadable':
    'A file that holds a password, keys, policies or a configuration cannot be read: it is missing, the user who runs skep may not read it, or it is not UTF-8 text. Correct its path in the configuration, its owner and mode, or its encoding.',
  'state-not-saved':
    'A file in `stateDir` cannot be written: a full disk, or a folder of another user. The run is done all the same, and the next one starts with less knowledge; give it a folder of its own.',
  'state-folder-unsafe':
    'The folder for state is a link, is tracked by Git or, for skep dev, belongs to another user: who decides about it could have skep overwrite files, or read its tokens. Delete it, or name another one: `stateDir` in skep.yaml, `--data` for skep dev.',
  'history-not-recorded':
    'A run is done, but its record could not be kept; a process that stays tries again with the next one.',
  'file-not-written':
    'A file that was asked for cannot be written: a missing folder, a full disk, or rights. Make the folder, or name another file.',
  'snapshot-mismatch': 'skep.yaml has a source that the snapshot does not know: wait for the next one.',
  'snapshot-unavailable': 'The URL of the snapshot does not answer with one; the message says why.',
  'plan-incomplete':
    'A source or a kind could not be read, so no plan file was written: what is missing would pass for gone.',
  'plan-commit-unknown':
    'The plan file is not signed, and its commit is neither what the ref of its source names nor what a run has read before: merge it, plan again, or sign the plan.',
  'plan-commit-gone':
    'The repository does not hand out the commit of the plan any more (a force-push, say), or its tag names another: plan again.',
  'source-too-costly':
    'Reading the manifests of a source takes more time or memory than one source has; the message names the file. Its last good commit stays in use, and nothing of it is deleted: write less into one file, or simpler rules.',
  'sync-thread-failed':
    'The thread of the registry service that reads the sources ended before it was done, say for want of memory; the message says why. It is recorded as a failed attempt of each source that the thread has not read, and each of them then has a thread of its own. What was read before is served: give the service more memory, or the sources less to read.',
  'source-late':
    'A source has not answered by the time that a run went on: its last commit is used, nothing of it is deleted, and a run follows when it answers.',
  'rollback-history-unknown':
    'What came before the commit that a rollback took out of use could not be read: of older commits only those are refused that runs have seen.',
  'run-deadline':
    'A run took longer than `apply.deadlineSeconds`; the message says how much was not begun, and the failures beside it what did not answer. The next run goes on there: give runs more time where the fleet is that large.',
  'run-stopped': 'The process was stopped during a run: what was not on its way by then was left to the next run.',
  'listen-failed':
    'The address or port is taken, or this user may not listen on it. Choose another (`http.address`, `listen.port`, `--port`), or stop the process that has it; ports below 1024 need rights.',
  'dev-first-run-failed': '`skep dev --once` found problems; the lines before say which.',
  'policies-invalid':
    'The files of `--policies`, or of `policies` in skep.yaml, are not what an API server would take; the message has a line for each problem. Correct them: without all policies nothing is evaluated.',
} as const;

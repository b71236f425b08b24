// Builds a container's environment from its manifest, and replaces `$(NAME)` in arguments (Kubernetes documentation,
// "Define Dependent Environment Variables").

import type { Container, ContainerVariable, Pod } from './objects.ts';
import type { NodeApi } from './ports.ts';
import { notThere, readValues } from './volumes.ts';

type Environment = Readonly<Record<string, string>>;

/** Throws if a referenced object does not exist yet. */
export async function readEnvironment(
  api: Pick<NodeApi, 'data'>,
  pod: Pod,
  { env = [], envFrom = [] }: Container,
): Promise<Environment> {
  const { namespace } = pod.metadata;
  const variables: Record<string, string> = {};
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const plural = secretRef === undefined ? 'configmaps' : 'secrets';
    const { name = '', optional = false } = secretRef ?? configMapRef ?? {};
    const values = await readValues(api, plural, namespace, name, optional);
    for (const [key, value] of values) variables[`${prefix}${key}`] = value.toString();
  }
  for (const variable of env) {
    const value = await readVariable(api, pod, variable);
    if (value !== undefined) variables[variable.name] = expandReferences(value, variables);
  }
  return variables;
}

async function readVariable(
  api: Pick<NodeApi, 'data'>,
  pod: Pod,
  { value, valueFrom = {} }: ContainerVariable,
): Promise<string | undefined> {
  const { secretKeyRef, configMapKeyRef, fieldRef } = valueFrom;
  if (fieldRef !== undefined) return fieldOf(pod, fieldRef.fieldPath);
  const ref = secretKeyRef ?? configMapKeyRef;
  if (ref === undefined) return value ?? '';
  const plural = secretKeyRef === undefined ? 'configmaps' : 'secrets';
  const values = await readValues(api, plural, pod.metadata.namespace, ref.name, ref.optional === true);
  const found = values.get(ref.key)?.toString();
  if (found === undefined && ref.optional !== true) throw notThere(`${plural}/${ref.name} has no key ${ref.key}`);
  return found;
}

function fieldOf({ metadata, spec }: Pod, path: string): string | undefined {
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (map === 'labels' || map === 'annotations') return metadata[map]?.[key] ?? '';
  const fields: Record<string, string | undefined> = {
    ...{ 'metadata.name': metadata.name, 'metadata.namespace': metadata.namespace, 'metadata.uid': metadata.uid },
    ...{ 'spec.nodeName': spec.nodeName, 'spec.serviceAccountName': spec.serviceAccountName },
    ...{ 'status.podIP': '127.0.0.1', 'status.hostIP': '127.0.0.1' },
  };
  return fields[path];
}

/** Variables with which loaders, shells, interpreters and tools choose code, programs or files to load. */
const LOADERS = [
  /^(LD|DYLD|GCONV|MALLOC|GLIBC)_/,
  /^(PATH|HOME|SHELL|ENV|IFS|PS4|CDPATH|TMPDIR|LOCPATH|NLSPATH|ZDOTDIR|EDITOR|VISUAL|PAGER|LESSOPEN|BROWSER)$/,
  /^(BASH|PYTHON|PERL|RUBY|LUA_|PHP|R_|JULIA_|CARGO_|RUST|ERL_|ELIXIR_|XDG_)/,
  /^(NODE|NPM|YARN|PNPM|COREPACK|BUN|DENO|TS_NODE|TSX|ELECTRON|UV|PIP|PIPX|CONDA|GEM|BUNDLE)_/i,
  /^GO(PATH|ROOT|FLAGS|ENV|TOOLCHAIN|BIN|CACHE|CACHEPROG|MODCACHE|PROXY|WORK|AUTH|VCS|INSECURE|NOSUMDB|SUMDB)$/,
  /^(VIRTUAL_ENV|CLASSPATH|_?JAVA_.*|JDK_.*|DOTNET_.*|COR_.*|CORECLR_.*)$/,
  /^(OPENSSL_.*|SSL_CERT_.*|SSLKEYLOGFILE|KUBECONFIG|AWS_CONFIG_FILE|AWS_SHARED_.*|DOCKER_(CONFIG|CONTEXT|HOST))$/,
  /^(GIT_(SSH|EXTERNAL|EDITOR|PAGER|PROXY|ASKPASS|SEQUENCE|CONFIG|DIR|WORK|EXEC|TEMPLATE|TRACE).*|SSH_(ASKPASS|AUTH).*)$/,
  /^(GIT_(COMMON|OBJECT|ALTERNATE|ALLOW_PROTOCOL|PROTOCOL|INDEX|ATTR).*|HGRCPATH|SVN_SSH)$/,
  /^GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES$/,
  // Programs that other programs start, such as browsers and pagers, and options that make Java load agents.
  /(^|_)(EXECUTABLE(_PATH)?|BINARY(_PATH)?|BIN|COMMAND|CMD|PAGER|EDITOR|ASKPASS|RSH|OPTS|PRELOAD|PLUGINS?(_(PATH|DIRS?))?|LOAD_?PATH)$/,
  /^(PUPPETEER_(LAUNCH|EXEC|CONFIG).*|PLAYWRIGHT_.*PATH|CHROME_(PATH|FLAGS)|CC|CXX|CGO_.*|MAKEFLAGS|MAKEFILES|COMSPEC|PATHEXT|PSModulePath)$/,
  // Drivers and modules that libraries for databases, desktops and authentication load.
  /^(ODBC(SYS)?INI|ODBCINSTINI|TNS_ADMIN|ORACLE_HOME|PGSERVICEFILE|PGSYSCONFDIR|PSQLRC|MYSQL_HOME|KRB5_.*|SASL_.*|MPLBACKEND|MPLCONFIGDIR)$/,
  /^((GTK|QT|GIO|GST|VK|EGL|LIBGL|OCL)_.*|DBUS_.*_ADDRESS|IPYTHONDIR|JUPYTER_.*|TCLLIBPATH|EMACS.*|TERMINFO.*|TERMCAP|FPATH)$/,
  // Configuration files that may contain names of programs, and options that may name a program.
  /^(CURL_HOME|WGETRC|NETRC|INPUTRC|GNUPGHOME|MAILCAPS|RIPGREP_CONFIG_PATH|FZF_.*|TAR_OPTIONS|G?VIMINIT|EXINIT|CLOUDSDK_(PYTHON|CONFIG).*)$/,
  /^(AZURE_(CONFIG|EXTENSION)_DIR|ANSIBLE_.*|TF_(CLI|PLUGIN).*|HELM_.*|KUBECTL_EXTERNAL_DIFF|DOCKER_CLI_.*)$/,
];

/** Common variables that match LOADERS but load nothing. */
const HARMLESS = ['NODE_ENV', 'PYTHONUNBUFFERED', 'PYTHONIOENCODING', 'PYTHONUTF8', 'PYTHONDONTWRITEBYTECODE'];

/** Shells import functions from variables whose names are not identifiers, such as `BASH_FUNC_echo%%`. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** True if a variable of this name could make a process run code, or choose a program or file to load. */
export function isLoaderVariable(name: string): boolean {
  if (!IDENTIFIER.test(name)) return true;
  return !HARMLESS.includes(name) && LOADERS.some((pattern) => pattern.test(name));
}

/** Replaces references to variables. Unknown names are unchanged, and `$$(NAME)` becomes `$(NAME)`. */
export function expandReferences(text: string, variables: Environment): string {
  return text.replaceAll(/\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables[name] ?? whole),
  );
}

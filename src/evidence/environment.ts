export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that point git to another repository or index. */
const gitRedirectVariables = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_ATTR_SOURCE',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_EXTERNAL_DIFF',
  'GIT_GLOB_PATHSPECS',
  'GIT_GRAFT_FILE',
  'GIT_ICASE_PATHSPECS',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INDEX_VERSION',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NAMESPACE',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** Variables of the process that started this one; a command has no use for them. */
const nodeChannel = new Set(['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']);

/** With what this process proves to a server who it is. A command of a repository can be an agent's code. */
const credentials = new Set(['STEPFAST_TOKEN', 'STEPFAST_URL', 'STEPFAST_DATABASE_URL']);

/** The environment of a gate's command: `base` without credentials, git redirects and Node's own channel. */
export function commandEnvironment(base: Environment): Record<string, string> {
  return pick(base, (name) => !gitRedirectVariables.has(name) && !nodeChannel.has(name));
}

const gitSettings =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH|CEILING_DIRECTORIES)$/;

/** The environment of Stepfast's own git calls, which may run filters: keeps the user's settings, drops redirects. */
export function gitEnvironment(base: Environment, own: Record<string, string> = {}): Record<string, string> {
  return {
    ...pick(base, (name) => !name.startsWith('GIT_') || gitSettings.test(name)),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    ...own,
  };
}

function pick(base: Environment, keep: (name: string) => boolean): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(base))
    if (value !== undefined && !credentials.has(name) && keep(name)) env[name] = value;
  return env;
}

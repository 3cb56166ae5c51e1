export type Environment = Readonly<Record<string, string | undefined>>;

/** Would turn git away from the worktree that it is run in. */
const gitRedirects = new Set([
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

/** Of the process that started this one, and of no use to a command. */
const nodeChannel = new Set(['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']);

/** What a gate's command sees of `base`: everything but variables that redirect git, and Node's own channel. */
export function commandEnvironment(base: Environment): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && !gitRedirects.has(name) && !nodeChannel.has(name)) env[name] = value;
  }
  return env;
}

const gitSettings =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH|CEILING_DIRECTORIES)$/;

/** For git run by Stepfast itself: the user's settings, none of the caller's redirects. */
export function gitEnvironment(base: Environment, own: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && (!name.startsWith('GIT_') || gitSettings.test(name))) env[name] = value;
  }
  return {
    ...env,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    ...own,
  };
}

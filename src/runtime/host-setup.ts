type Environment = Readonly<Record<string, string | undefined>>;

export interface SetupContext {
  /** The worktree. */
  root: string;
  env: Environment;
  home: string;
  /** Stepfast's own folder of this user. */
  state: string;
}

export interface FoundHost {
  program: string;
  /** If it reports one. */
  version?: string;
}

export interface SetupOptions {
  /** Installs for the whole team, in a committed file. */
  team: boolean;
  /** The folder with the plugin's files; its path stays the same from version to version. */
  plugin: string;
  /** Of the plugin. */
  version: string;
}

/** The changes that a person is asked to confirm. */
export interface SetupPlan {
  /** As typed in a shell. */
  commands: string[];
  edits: { file: string; what: string }[];
  /** What is not changed, and why. */
  notes: string[];
  /** Makes the changes. A failure is rolled back and returned. */
  perform(): Promise<SetupRefusal | undefined>;
}

/** Why nothing was changed. */
export interface SetupRefusal {
  code: string;
  message: string;
  next: string;
}

export interface UninstallResult {
  commands: string[];
  /** Each settings file: `as_before` byte for byte, or `ours_removed` where a setting was changed since. */
  files: { file: string; how: 'as_before' | 'removed' | 'ours_removed' | 'left'; why?: string }[];
  /** Another project uses the plugin's files, or may use them. */
  used: boolean;
  /** What remains, and how to remove it. */
  notes: string[];
}

/** One result of `stepfast doctor`: the problem and its fix, if there is one. */
export interface Check {
  what: string;
  state: 'ok' | 'note' | 'wrong';
  says: string;
  next?: string;
}

/** Installs and uninstalls Stepfast in a host. Separate from `Host`, because hooks load that one. */
export interface HostSetup {
  name: string;
  /** For people. */
  title: string;
  /** As a person types it to open a session. */
  program: string;
  /** How a task begins that is typed in a session. */
  go: string;
  find(context: SetupContext): Promise<FoundHost | undefined>;
  /** Changes nothing. A plan without commands and edits means that everything is installed. */
  plan(found: FoundHost, context: SetupContext, options: SetupOptions): Promise<SetupPlan | SetupRefusal>;
  /** Also works without the host: then only settings files are restored. */
  uninstall(
    found: FoundHost | undefined,
    context: SetupContext,
    options: Pick<SetupOptions, 'team' | 'plugin'>,
  ): Promise<UninstallResult | SetupRefusal>;
  check(found: FoundHost, context: SetupContext, version: string): Promise<Check[]>;
  /**
   * Starts the hooks of the plugin in `plugin`, and the host if it is installed, in a temporary project with a separate
   * configuration and a scripted model. Takes at most a minute.
   */
  live(found: FoundHost | undefined, plugin: string, env: Environment): Promise<Check[]>;
}

export const isSetupRefusal = (value: object): value is SetupRefusal => 'code' in value && 'next' in value;

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a host is set up. */
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
  /** Where it tells. */
  version?: string;
}

export interface SetupOptions {
  /** For everybody who works in the repository, in a file that is committed. */
  team: boolean;
  /** The folder with the plugin's files; its path stays the same from version to version. */
  plugin: string;
  /** Of the plugin. */
  version: string;
}

/** What would be done, for a person to agree to. */
export interface SetupPlan {
  /** As they could be typed. */
  commands: string[];
  edits: { file: string; what: string }[];
  /** What is left as it is, and why. */
  notes: string[];
  /** Does it. What fails is undone, and told. */
  perform(): Promise<SetupRefusal | undefined>;
}

/** Why it was not done; nothing is half done. */
export interface SetupRefusal {
  code: string;
  message: string;
  next: string;
}

export interface Uninstalled {
  commands: string[];
  /** Each settings file: `as_before` byte for byte, or `ours_removed` where a setting was changed since. */
  files: { file: string; how: 'as_before' | 'removed' | 'ours_removed' | 'left'; why?: string }[];
  /** Whether another project still uses the plugin's files, or may: nobody could be asked. */
  used: boolean;
  /** What stays, and how it goes. */
  notes: string[];
}

/** One thing that was looked at: what is wrong and what mends it, unless it is as it should be. */
export interface Check {
  what: string;
  state: 'ok' | 'note' | 'wrong';
  says: string;
  next?: string;
}

/** How a host gets Stepfast and loses it again. Apart from `Host`, which hooks load. */
export interface HostSetup {
  name: string;
  /** For people. */
  title: string;
  find(place: SetupContext): Promise<FoundHost | undefined>;
  /** Changes nothing; a plan without commands and edits says that all is there. */
  plan(found: FoundHost, place: SetupContext, options: SetupOptions): Promise<SetupPlan | SetupRefusal>;
  /** Also where the host is gone: then only settings are mended. */
  uninstall(
    found: FoundHost | undefined,
    place: SetupContext,
    options: Pick<SetupOptions, 'team' | 'plugin'>,
  ): Promise<Uninstalled | SetupRefusal>;
  check(found: FoundHost, place: SetupContext, version: string): Promise<Check[]>;
  /**
   * Starts the hooks of the plugin in `plugin`, and the host where there is one: in a temporary project and a
   * configuration of their own, with a model on loopback. Takes a minute at most.
   */
  live(found: FoundHost | undefined, plugin: string, env: Environment): Promise<Check[]>;
}

export const isSetupRefusal = (value: object): value is SetupRefusal => 'code' in value && 'next' in value;

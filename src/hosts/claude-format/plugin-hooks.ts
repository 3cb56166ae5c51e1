/** One hook to register. `mark` is the file that must exist for the hook to start anything. */
export interface Registration {
  event: string;
  matcher?: string;
  mark: string;
  /** Seconds. */
  timeout: number;
  /** Shown to the person while the hook runs. */
  status?: string;
  /** Runs beside the session, and may start a turn. What the person then sees. */
  wakes?: string;
}

/** Hooks of one event for some of its tools. */
export interface HookGroup {
  matcher?: string;
  hooks: object[];
}

/** The entries of a host's hooks file, by event. */
export function hooksFile(
  registrations: readonly Registration[],
  entryOf: (registration: Registration) => object,
): { hooks: Record<string, HookGroup[]> } {
  const hooks: Record<string, HookGroup[]> = {};
  for (const registration of registrations) {
    const { event, matcher } = registration;
    hooks[event] ??= [];
    hooks[event].push({ ...(matcher === undefined ? {} : { matcher }), hooks: [entryOf(registration)] });
  }
  return { hooks };
}

/**
 * The command of an entry. Appears on a person's screen. `program` is the path of the shim: quoted because it may have
 * blanks, and started with `sh` because some ways to copy a plugin lose file modes.
 */
export const shimCommand = (host: string, program: string, { mark, event, wakes }: Registration): string =>
  `sh ${program} ${mark} ${host} ${event}${wakes === undefined ? '' : ' wake'}`;

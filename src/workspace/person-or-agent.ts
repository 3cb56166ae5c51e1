type Environment = Readonly<Record<string, string | undefined>>;

/** Tells a person from an agent: the reason why the caller does not count as a person, undefined for a person. */
export function notAPerson({
  terminal,
  env,
  agentVariables,
}: {
  terminal: boolean;
  env: Environment;
  /** Variables that agent programs set for the commands that they run. */
  agentVariables: readonly string[];
}): string | undefined {
  const set = agentVariables.find((name) => env[name] !== undefined && env[name] !== '');
  if (set !== undefined) return `${set} is set, so an agent may be calling`;
  return terminal ? undefined : 'this is not a terminal';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Why the caller cannot be taken for a person; undefined for a person, who can be asked. */
export function notAPerson({
  terminal,
  env,
  agentVariables,
}: {
  terminal: boolean;
  env: Environment;
  /** Each of them is set by some agent program for the commands that it runs. */
  agentVariables: readonly string[];
}): string | undefined {
  const set = agentVariables.find((name) => env[name] !== undefined && env[name] !== '');
  if (set !== undefined) return `${set} is set, so an agent may be calling`;
  return terminal ? undefined : 'this is not a terminal';
}

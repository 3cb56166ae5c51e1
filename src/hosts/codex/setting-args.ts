/** Settings for one process alone, over those of the person. */
export const settingArgs = (settings: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]);

/** JSON but for the sign between a key and its value; keys here need no quotes. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}=${toml(each)}`)
    .join(',')}}`;
}

/** Made-up secrets for tests. They are put together here, so that no file of the repository holds one. */

import { createRandom } from '../../src/testing/model/summary.ts';
import { base62, base64, digits, fail, hex, lower, pick, type Random, some } from './canaries/random.ts';
import { wholes } from './canaries/texts.ts';
import { tokens } from './canaries/tokens.ts';

export interface Canary {
  format: string;
  /** A file excerpt with the secret. */
  text: string;
  /** Texts that must not appear anywhere. */
  parts: readonly string[];
}

/** Values that only their name makes a secret. */
const names = [
  'password',
  'db_password',
  'DB_PASSWORD',
  'api_key',
  'apiKey',
  'API_KEY',
  'access_token',
  'accessToken',
  'ACCESS_TOKEN',
  'client_secret',
  'clientSecret',
  'SECRET_KEY',
  'aws_secret_access_key',
  'auth-token',
  'x-api-key',
  'passphrase',
  'private_key',
  'signingKey',
  'webhook_secret',
  'refresh_token',
  'secret_key_base',
  'client-key-data',
  'consumer_key',
  'APP_KEY',
  'session_key',
  'requirepass',
  'bindpw',
  'db_pw',
  'psk',
  'creds',
  'X-Auth',
] as const;
/** Neutral names, so that the token itself must be recognized. */
const plainNames = ['value', 'note', 'config', 'first_line', 'example-2', 'result'] as const;
const values: Record<string, (random: Random) => string> = {
  'base62 value': (r) => some(r, base62, 20 + Math.floor(r() * 30)),
  'base64 value': (r) => `${some(r, base64, 40)}==`,
  'hex value': (r) => some(r, hex, 40),
  'uuid value': (r) => [8, 4, 4, 4, 12].map((length) => some(r, hex, length)).join('-'),
  'typed value': (r) => `${some(r, lower, 5)}${some(r, digits, 3)}!${some(r, base62, 6)}`,
};

/** Ways to write a named value in a file. */
export const surroundings: Record<string, (name: string, value: string) => string> = {
  json: (name, value) => JSON.stringify({ [name]: value }),
  'json, printed': (name, value) => JSON.stringify({ a: { [name]: value } }, undefined, 2),
  'json in json': (name, value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) }),
  yaml: (name, value) => `service:\n  ${name}: ${value}\n`,
  'yaml, quoted': (name, value) => `  ${name}: '${value}' # rotate`,
  'yaml, block': (name, value) => `${name}: >-\n  ${value}\n`,
  'yaml, environment': (name, value) => `- name: ${name}\n  value: ${value}\n`,
  shell: (name, value) => `export ${name}=${value}\n`,
  'shell, quoted': (name, value) => `${name}="${value}" npm start`,
  'command line': (name, value) => `tool --${name} ${value} --verbose`,
  toml: (name, value) => `${name} = "${value}"`,
  ini: (name, value) => `[service]\n${name} = ${value}\n`,
  query: (name, value) => `GET https://example.com/v1?page=2&${name}=${value}&sort=asc`,
  header: (name, value) => `${name}: ${value}\r\nAccept: */*`,
  markdown: (name, value) => `- **${name}:** \`${value}\``,
  'markdown table': (name, value) => `| name | value |\n| --- | --- |\n| ${name} | ${value} |`,
  prose: (name, value) => `The ${name} is \`${value}\`, do not share it.`,
  typescript: (name, value) => `const ${name.replaceAll('-', '_')}: string = '${value}';`,
  object: (name, value) => `new Client({ ${name.replaceAll('-', '_')}: '${value}' })`,
  python: (name, value) => `os.environ["${name}"] = "${value}"`,
  ruby: (name, value) => `:${name} => '${value}',`,
  go: (name, value) => `${name} := "${value}"`,
  xml: (name, value) => `<${name}>${value}</${name}>`,
  attribute: (name, value) => `<add key="${name}" value="${value}" />`,
  'attribute, value first': (name, value) => `<add value="${value}" key="${name}" />`,
  'compact pair': (name, value) => `[{"name":"${name}","value":"${value}"}]`,
  'compact pair, value first': (name, value) => `[{"value":"${value}","name":"${name}"}]`,
  'yaml, value first': (name, value) => `- value: ${value}\n  name: ${name}\n`,
  'yaml list': (name, value) => `${name}:\n  - ${value}\n  - ${value}\n`,
  'inline list': (name, value) => `${name}: [${value}, ${value}]`,
  'json list': (name, value) => JSON.stringify({ [name]: [value, value] }),
  terraform: (name, value) => `variable "${name}" {\n  type = string\n  default = "${value}"\n}`,
  optional: (name, value) => `${name.replaceAll('-', '_')}?: string = '${value}';`,
  'far columns': (name, value) => `${name}${' '.repeat(30)}= ${value}`,
  arrow: (name, value) => `${name} -> ${value}`,
};

const inTurn = <T>(list: readonly T[], index: number): T => list[index % list.length] ?? fail();

/** Deterministic for a seed; cycles through all formats. */
export function createCanaries(count: number, seed = 1): Canary[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const kind = index % 5;
    const round = Math.floor(index / 5);
    if (kind < 2) {
      const format = inTurn(Object.keys(tokens), 2 * round + kind);
      const [before, body] = tokens[format]?.(random) ?? fail();
      return surrounded(random, format, before + body, [body], plainNames);
    }
    if (kind < 4) {
      const format = pick(random, Object.keys(values));
      const value = values[format]?.(random) ?? fail();
      return surrounded(random, format, value, [value], names);
    }
    const format = inTurn(Object.keys(wholes), round);
    return { format, ...(wholes[format]?.(random) ?? fail()) };
  });
}

function surrounded(
  random: Random,
  format: string,
  value: string,
  parts: string[],
  from: readonly string[],
): Canary {
  const around = pick(random, Object.keys(surroundings));
  const name = pick(random, from);
  return {
    format: `${format}, ${name}, ${around}`,
    text: surroundings[around]?.(name, value) ?? fail(),
    parts,
  };
}

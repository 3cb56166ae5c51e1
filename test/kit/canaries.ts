/** Fake secrets for tests. Assembled at run time, so that no file of the repository contains one. */
export interface Canary {
  format: string;
  /** A file excerpt with the secret. */
  text: string;
  /** Texts that must not appear anywhere. */
  parts: readonly string[];
}

type Random = () => number;

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const base62 = lower + lower.toUpperCase() + digits;
const base64 = `${base62}+/`;
const hex = '0123456789abcdef';
const shout = lower.toUpperCase() + digits;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] ?? fail();
const fail = (): never => {
  throw new Error('an empty list');
};
const some = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => pick(random, [...alphabet])).join('');

/** Tokens recognizable by their form, in any context. */
const tokens: Record<string, (random: Random) => [before: string, body: string]> = {
  github: (r) => [`gh${pick(r, ['p', 'o', 'u', 's', 'r'])}_`, some(r, base62, 36)],
  'github fine-grained': (r) => ['github_' + 'pat_', `${some(r, base62, 22)}_${some(r, base62, 59)}`],
  gitlab: (r) => ['glpat' + '-', some(r, base62, 20)],
  npm: (r) => ['np' + 'm_', some(r, base62, 36)],
  slack: (r) => [
    `xox${pick(r, ['b', 'p'])}-`,
    `${some(r, digits, 11)}-${some(r, digits, 12)}-${some(r, base62, 24)}`,
  ],
  stripe: (r) => [`${pick(r, ['sk', 'rk'])}_${pick(r, ['live', 'test'])}_`, some(r, base62, 24)],
  google: (r) => ['AI' + 'za', some(r, `${base62}-_`, 35)],
  'google oauth': (r) => ['GOC' + 'SPX-', some(r, base62, 28)],
  'aws id': (r) => ['AK' + 'IA', some(r, shout, 16)],
  twilio: (r) => ['S' + 'K', some(r, hex, 32)],
  sendgrid: (r) => ['S' + 'G.', `${some(r, base62, 22)}.${some(r, base62, 43)}`],
  openai: (r) => ['sk-' + 'proj-', `${some(r, base62, 58)}T3Blbk` + `FJ${some(r, base62, 58)}`],
  'openai legacy': (r) => ['sk' + '-', `${some(r, base62, 20)}T3Blbk` + `FJ${some(r, base62, 20)}`],
  anthropic: (r) => ['sk-' + 'ant-api03-', `${some(r, `${base62}-_`, 93)}AA`],
  'hugging face': (r) => ['h' + 'f_', some(r, base62, 34)],
  groq: (r) => ['gs' + 'k_', some(r, base62, 52)],
  shopify: (r) => ['shp' + 'at_', some(r, hex, 32)],
  digitalocean: (r) => ['dop' + '_v1_', some(r, hex, 64)],
  pypi: (r) => ['py' + 'pi-AgEIcHlwaS5vcmc', some(r, base62, 60)],
  docker: (r) => ['dckr' + '_pat_', some(r, base62, 27)],
  linear: (r) => ['lin' + '_api_', some(r, base62, 40)],
  notion: (r) => ['nt' + 'n_', `${some(r, digits, 11)}${some(r, base62, 35)}`],
  vault: (r) => ['hv' + 's.', some(r, base62, 90)],
  age: (r) => ['AGE-' + 'SECRET-KEY-1', some(r, shout, 58)],
  telegram: (r) => [`${some(r, digits.slice(1), 9)}:AA`, some(r, base62, 33)],
  jwt: (r) => [
    'ey' + 'J',
    `${some(r, base62, 30)}.${'ey' + 'J'}${some(r, base62, 60)}.${some(r, base62, 43)}`,
  ],
  'azure client': (r) => ['', `${some(r, base62, 3)}8Q~${some(r, base62, 34)}`],
  'stripe webhook': (r) => ['whs' + 'ec_', some(r, base62, 32)],
  'google oauth token': (r) => ['ya' + '29.', some(r, base62, 60)],
  'google refresh': (r) => ['1/' + '/0', some(r, base62, 60)],
  'slack app': (r) => ['xap' + 'p-', `1-${some(r, shout, 11)}-${some(r, digits, 12)}-${some(r, hex, 64)}`],
  mailgun: (r) => ['ke' + 'y-', some(r, hex, 32)],
  mailchimp: (r) => ['', `${some(r, hex, 32)}-us12`],
  xai: (r) => ['xa' + 'i-', some(r, base62, 80)],
  perplexity: (r) => ['ppl' + 'x-', some(r, base62, 48)],
  replicate: (r) => ['r' + '8_', some(r, base62, 37)],
  heroku: (r) => ['HRK' + 'U-', some(r, base62, 60)],
  square: (r) => ['sq0' + 'atp-', some(r, base62, 22)],
  atlassian: (r) => ['ATA' + 'TT3', some(r, base62, 180)],
  rubygems: (r) => ['ruby' + 'gems_', some(r, hex, 48)],
  figma: (r) => ['fig' + 'd_', some(r, base62, 40)],
  doppler: (r) => ['dp.' + 'pt.', some(r, base62, 43)],
  'new relic': (r) => ['NRA' + 'K-', some(r, shout, 27)],
  grafana: (r) => ['gls' + 'a_', `${some(r, base62, 32)}_${some(r, hex, 8)}`],
  planetscale: (r) => ['pscale' + '_tkn_', some(r, base62, 43)],
  supabase: (r) => ['sb' + 'p_', some(r, hex, 40)],
  terraform: (r) => [`${some(r, base62, 14)}.atlasv1.`, some(r, base62, 67)],
  '1password': (r) => ['ops' + '_eyJ', some(r, base62, 200)],
  '1password key': (r) => ['A' + '3-', [6, 6, 5, 5, 5, 5].map((length) => some(r, shout, length)).join('-')],
  sentry: (r) => ['sntr' + 'yu_', some(r, hex, 64)],
  postman: (r) => ['PMA' + 'K-', `${some(r, hex, 24)}-${some(r, hex, 34)}`],
  airtable: (r) => [`pa${'t'}${some(r, base62, 14)}.`, some(r, hex, 64)],
  fly: (r) => ['fm' + '2_', some(r, base62, 80)],
  vercel: (r) => ['vc' + 'p_', some(r, base62, 30)],
  cloudflare: (r) => ['cfu' + 't_', `${some(r, base62, 40)}${some(r, hex, 8)}`],
  netlify: (r) => ['nf' + 'p_', some(r, base62, 36)],
  databricks: (r) => ['da' + 'pi', some(r, hex, 32)],
  'gitlab runner': (r) => ['GR13' + '48941', some(r, base62, 20)],
  'gitlab feature flags': (r) => ['glff' + 'ct-', some(r, base62, 20)],
  bitbucket: (r) => ['AT' + 'BB', some(r, base62, 32)],
  circleci: (r) => ['CCI' + 'PAT_', `${some(r, base62, 22)}_${some(r, hex, 40)}`],
  buildkite: (r) => ['bk' + 'ua_', some(r, hex, 40)],
  pulumi: (r) => ['pu' + 'l-', some(r, hex, 40)],
  dropbox: (r) => ['s' + 'l.', `u4${some(r, base62, 130)}`],
  discord: (r) => ['', `MT${some(r, base62, 21)}7.${some(r, base62, 6)}.${some(r, base62, 38)}`],
  facebook: (r) => ['EA' + 'A', some(r, base62, 100)],
  mapbox: (r) => ['sk.' + 'eyJ', `${some(r, base62, 60)}.${some(r, base62, 22)}`],
  sendinblue: (r) => ['xkey' + 'sib-', `${some(r, hex, 64)}-${some(r, base62, 16)}`],
  langsmith: (r) => ['ls' + 'v2_pt_', `${some(r, hex, 32)}_${some(r, hex, 10)}`],
  pinecone: (r) => ['pc' + 'sk_', some(r, base62, 60)],
  nvidia: (r) => ['nv' + 'api-', some(r, base62, 64)],
  together: (r) => ['tgp' + '_v1_', some(r, base62, 43)],
  voyage: (r) => ['p' + 'a-', `4${some(r, base62, 42)}`],
  gemini: (r) => ['A' + 'Q.', some(r, base62, 50)],
  neon: (r) => ['np' + 'g_', `${some(r, base62, 11)}5`],
  render: (r) => ['rn' + 'd_', some(r, base62, 28)],
  resend: (r) => ['r' + 'e_', `${some(r, base62, 8)}_${some(r, base62, 24)}`],
  posthog: (r) => ['ph' + 'x_', some(r, base62, 43)],
  sonar: (r) => ['sq' + 'u_', some(r, hex, 40)],
  artifactory: (r) => ['AK' + 'Cp', some(r, base62, 69)],
  flutterwave: (r) => ['FLW' + 'SECK_TEST-', `${some(r, hex, 32)}-X`],
  contentful: (r) => ['CF' + 'PAT-', some(r, base62, 43)],
  tailscale: (r) => ['ts' + 'key-auth-', `${some(r, base62, 12)}-${some(r, base62, 32)}`],
  shippo: (r) => ['ship' + 'po_live_', some(r, hex, 40)],
  razorpay: (r) => ['rzp' + '_live_', some(r, base62, 24)],
  braintree: (r) => ['access' + '_token$production$', `${some(r, base62, 16)}$${some(r, hex, 32)}`],
  plaid: (r) => ['access-' + 'production-', [8, 4, 4, 4, 12].map((length) => some(r, hex, length)).join('-')],
  bcrypt: (r) => ['$2' + 'b$12$', some(r, base62, 53)],
  crypt: (r) => ['$' + '6$abcdefgh$', some(r, base62, 86)],
  apr1: (r) => ['$ap' + 'r1$abcdefgh$', some(r, base62, 22)],
  'key in base64': (r) => ['LS0tLS1CRU' + 'dJTiBQUklWQVRFIEtFWS', some(r, base62, 200)],
};

/** Values that are secret only because of their name. */
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

/** Secrets with a format of their own. */
const wholes: Record<string, (random: Random) => { text: string; parts: string[] }> = {
  'private key': (r) => {
    const kind = pick(r, ['RSA ', 'EC ', 'OPENSSH ', '']);
    const lines = Array.from({ length: 8 }, () => some(r, base64, 64));
    const frame = (word: string): string => `-----${word} ${kind}PRIVATE ${'KEY'}-----`;
    return {
      text: [frame('BEGIN'), ...lines, frame('END')].join(pick(r, ['\n', '\r\n', '\n    '])),
      parts: lines,
    };
  },
  'private key, cut off': (r) => {
    const lines = Array.from({ length: 5 }, () => some(r, base64, 64));
    return { text: [`-----BEGIN PRIVATE ${'KEY'}-----`, ...lines].join('\n'), parts: lines };
  },
  'private key, beginning cut off': (r) => {
    const lines = Array.from({ length: 2 }, () => some(r, base64, 64));
    return { text: [...lines, `-----END RSA PRIVATE ${'KEY'}-----`].join('\n'), parts: lines };
  },
  'private key, long': (r) => {
    const lines = Array.from({ length: 330 }, () => some(r, base64, 64));
    const frame = (word: string): string => `-----${word} PRIVATE ${'KEY'}-----`;
    return { text: [frame('BEGIN'), ...lines, frame('END')].join('\n'), parts: lines };
  },
  'private key, numbered lines': (r) => {
    const lines = Array.from({ length: 5 }, () => some(r, base64, 64));
    const numbered = [`-----BEGIN PRIVATE ${'KEY'}-----`, ...lines].map((line, i) => `${i + 1} ${line}`);
    return { text: numbered.join('\n'), parts: lines };
  },
  'private key of PuTTY': (r) => {
    const lines = Array.from({ length: 5 }, () => some(r, base64, 64));
    const head = 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-' + 'Lines: 5';
    return { text: [head, ...lines, `Private-MAC: ${some(r, hex, 64)}`].join('\n'), parts: lines };
  },
  'private key of SSH2': (r) => {
    const lines = Array.from({ length: 5 }, () => some(r, base64, 64));
    const frame = (word: string): string => `---- ${word} SSH2 ENCRYPTED PRIVATE ${'KEY'} ----`;
    return { text: [frame('BEGIN'), 'Comment: x', ...lines, frame('END')].join('\n'), parts: lines };
  },
  'web key': (r) => {
    const value = some(r, base62, 43);
    return { text: `{"kty":"OKP","crv":"Ed25519","d":"${value}"}`, parts: [value] };
  },
  command: (r) => {
    const value = `${some(r, base62, 12)}7`;
    const before = pick(r, [
      'curl -uadmin:',
      'curl --user admin:',
      'tool -u admin:',
      'docker login -u me -p ',
      'az login --service-principal -u x -p ',
      'redis-cli -h db -a ',
      'ldapsearch -x -w ',
      'sshpass -p ',
      'machine example.com login me password ',
      'machine example.com\n  login me\n  password ',
      'ENV DB_PASS ',
      'set -x API_TOKEN aB3',
      'requirepass ',
      'bindpw ',
    ]);
    return { text: `${before}${value}`, parts: [value] };
  },
  'number as a password': (r) => {
    const value = some(r, digits.slice(1), 8);
    return { text: pick(r, [`password: ${value}`, `{"password": ${value}}`]), parts: [value] };
  },
  'docker config': (r) => {
    const value = some(r, base64, 40);
    return { text: `{"auths":{"r.example.com":{"auth":"${value}"}}}`, parts: [value] };
  },
  'begins like an example': (r) => {
    const value = some(r, base62, 24);
    const before = pick(r, [
      'example',
      'my_',
      '<',
      '{',
      '[',
      '1.2',
      'arn:',
      'true.',
      'os.',
      '2024-01-01T',
      '$' + '{x',
      '****',
    ]);
    return { text: `PASSWORD="${before}${value}"`, parts: [value] };
  },
  'query of a url': (r) => {
    const value = `${some(r, base62, 31)}4`;
    return { text: `https://example.com/maps?key=${value}`, parts: [value] };
  },
  'password with signs': (r) => {
    const value = some(r, base62, 12);
    return { text: `postgres://app:p@s${pick(r, ['', ':'])}${value}@db.internal/main`, parts: [value] };
  },
  'connection string': (r) => {
    const value = some(r, base62, 16);
    const scheme = pick(r, ['postgres', 'mysql', 'mongodb+srv', 'redis', 'amqp']);
    return { text: `DATABASE: ${scheme}://app:${value}@db.internal:5432/main`, parts: [value] };
  },
  'basic auth': (r) => {
    const value = some(r, base62, 14);
    return { text: `curl https://bot:${value}@example.com/repo.git`, parts: [value] };
  },
  'token in a url': (r) => {
    const value = some(r, base62, 40);
    return { text: `git clone https://${value}@example.com/a/b.git`, parts: [value] };
  },
  'bearer header': (r) => {
    const value = some(r, base62, 32);
    return { text: `curl -H "Authorization: Bearer ${value}" https://example.com`, parts: [value] };
  },
  'basic header': (r) => {
    const value = some(r, base64, 30);
    return { text: `Authorization: Basic ${value}==`, parts: [value] };
  },
  'user of curl': (r) => {
    const value = some(r, base62, 18);
    return { text: `curl -u admin:${value} https://example.com`, parts: [value] };
  },
  'slack webhook': (r) => {
    const value = some(r, base62, 24);
    const path = `T${some(r, shout, 8)}/B${some(r, shout, 8)}/${value}`;
    return { text: `see https://hooks.${'slack'}.com/services/${path} for it`, parts: [value] };
  },
  'azure storage': (r) => {
    const value = `${some(r, base64, 86)}`;
    return {
      text: `AccountName=store;Account${'Key'}=${value}==;EndpointSuffix=core.windows.net`,
      parts: [value],
    };
  },
  'signed url': (r) => {
    const value = some(r, base62, 43);
    return {
      text: `https://store.blob.core.windows.net/a/b.zip?sv=2024&sig=${value}%3D&se=2026`,
      parts: [value],
    };
  },
  'aws pair': (r) => {
    const [id, value] = [some(r, shout, 16), some(r, base64, 40)];
    return { text: `${'AK' + 'IA'}${id},${value}\n`, parts: [id, value] };
  },
  'mysql password': (r) => {
    const value = some(r, base62, 16);
    return { text: `mysql -h db -u root -p${value} main`, parts: [value] };
  },
  'discord webhook': (r) => {
    const value = some(r, base62, 68);
    return { text: `https://discord.com/api/${'webhooks'}/${some(r, digits, 18)}/${value}`, parts: [value] };
  },
  'teams webhook': (r) => {
    const value = some(r, hex, 32);
    return {
      text: `https://a.${'webhook'}.office.com/webhookb2/x@y/IncomingWebhook/${value}/z`,
      parts: [value],
    };
  },
  npmrc: (r) => {
    const value = some(r, base62, 36);
    return { text: `//registry.example.com/:_auth${'Token'}=${value}`, parts: [value] };
  },
  cookie: (r) => {
    const value = some(r, base62, 40);
    return { text: `Cookie: session=${value}; theme=dark`, parts: [value] };
  },
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

/** mulberry32 */
function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

import { base62, base64, digits, hex, pick, type Random, shout, some } from './random.ts';

/** Texts with a form of their own. */
export const wholes: Record<string, (random: Random) => { text: string; parts: string[] }> = {
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

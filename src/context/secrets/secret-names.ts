import { trigram, trigramSpace } from './trigram-filter.ts';

/** Grouped by their first letters, so that the pattern runs only where a name may begin. */
const names: Record<string, readonly string[]> = {
  pas: ['passwor[dt]s?', 'passwd', 'passphrase', 'passcode', '(?<![a-z])pass'],
  pw: ['pwd', '(?<![a-z])pw(?![a-z])'],
  req: ['requirepass'],
  'mas mot mne mfa': ['masterauth', 'mot de passe', 'mnemonic', 'mfa[_-]?seed'],
  'bin roo dbp adm use': ['(?:bind|root|db|admin|user)pw'],
  psk: ['(?<![a-z])psk(?![a-z])'],
  cre: ['credentials?', '(?<![a-z])creds?(?![a-z])'],
  see: ['seed phrase'],
  'ken con sen': ['kennwort', 'contrase[ñn]a', '(?<![a-z])senha'],
  пар: ['пароль'],
  密: ['密[码碼]'],
  パス: ['パスワード'],
  비밀: ['비밀번호'],
  api: ['api[_\\- ]?keys?'],
  'acc sec pri sig enc mas sha pre aut ser sto ses hma jwt lic dep con cli app adm': [
    '(?:access|secret|private|signing|encryption|master|account|shared|preshared|auth|service|storage|session|hmac|jwt|license|deploy|consumer|client|app|application|admin)[_\\- ]?keys?(?:[_\\- ]?(?:id|base|data)(?![a-z]))?',
  ],
  'sec tok bea bas': ['secrets?', 'tokens?', 'bearer', 'basic'],
  'pro aut x-a x_a': [
    '(?:proxy-)?authorization',
    'x[-_]auth(?:-[a-z]{1,20})?',
    '(?<=["\'?&;])auth(?=["\'=])',
  ],
  'set coo': ['(?<![a-z])(?:set-)?cookie'],
  'ses jse': ['session[_-]?id', 'j?sess(?:ion)?id'],
  'csr xsr': ['(?<![a-z])[cx]srf'],
  'otp tot': ['t?otp[_-]?seed'],
  'sal pep': ['(?<![a-z])(?:salt|pepper)(?![a-z])'],
};

/** Names of secret values; prefixes such as `DB_` or `my` do not matter. */
const name = new RegExp(
  `(?:${Object.values(names).flat().join('|')})(?:[_-](?:value|hash|b64|base64|prod|production|dev|staging|test|live|old|new|\\d{1,2}))?`,
  'iy',
);

const begins = new Uint8Array(trigramSpace);
for (const start of Object.keys(names).flatMap((key) => key.split(' '))) {
  const [a, b, c] = [start.charCodeAt(0), start.charCodeAt(1), start.charCodeAt(2)];
  const everySecond = start.length < 2 ? 32 : 1;
  const everyThird = start.length < 3 ? 32 : 1;
  for (let j = 0; j < everySecond; j++)
    for (let k = 0; k < everyThird; k++)
      begins[trigram(a, everySecond === 1 ? b : j, everyThird === 1 ? c : k)] = 1;
}

/** All names in order, without overlaps. */
export function* secretNames(text: string): Generator<{ word: string; start: number; end: number }> {
  for (let i = 0; i + 2 <= text.length; i++) {
    if (begins[trigram(text.charCodeAt(i), text.charCodeAt(i + 1), text.charCodeAt(i + 2))] === 0) continue;
    name.lastIndex = i;
    const match = name.exec(text);
    if (!match) continue;
    const end = i + match[0].length;
    yield { word: match[0].toLowerCase(), start: i, end };
    i = end - 1;
  }
}

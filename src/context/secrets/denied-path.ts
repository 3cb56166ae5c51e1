/** Suffixes of backup copies. */
const copyMark = /(?:~|\.(?:bak|backup|old|orig|save|swp|tmp|copy|disabled|\d{1,8}))$/;
const sample = /\.(?:example|sample|template|dist|tpl|md)$/;

const names: readonly RegExp[] = [
  /^\.env(?:$|[.\-_])/,
  /^.+\.env$/,
  /^\.(?:envrc|flaskenv|dev\.vars)$/,
  /\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|bks|kdbx?|agekey|ovpn|gpg|keychain|keychain-db)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?!.*\.pub$)/,
  /^[._](?:npmrc|netrc|pypirc|pgpass|htpasswd|boto|s3cfg|vault-token|dockercfg|databrickscfg|terraformrc|my\.cnf)$/,
  /^\.git-credentials$/,
  /^\.(?:bash|zsh|sh|psql|mysql|python|node_repl)_history$/,
  /^(?:[\w.-]+[._-])?(?:credentials?|secrets?)(?:\.(?:ya?ml|json|toml|ini|env|properties|txt|csv|xml|conf|cfg|php|db|enc|tfvars|tfrc\.json))?$/,
  /^(?:credentials?|secrets?)\.(?![jt]sx?$|py$|go$|rs$|java$|css$|html?$)[\w.-]+$/,
  /service[_-]?account[\w.-]*\.json$/,
  /^(?:firebase-adminsdk|application_default_credentials)[\w.-]*\.json$/,
  /firebase-adminsdk[\w.-]*\.json$/,
  /^(?:auth|local\.settings)\.json$/,
  /(?:^|\.)kubeconfig(?:$|\.)/,
  /\.tfstate(?:\.|$)/,
  /\.tfvars(?:\.json)?$/,
  /^wallet\.dat$/,
  /^htpasswd$/,
];

/** Directories whose content is denied entirely. */
const folders = new Set(['.ssh', '.gnupg', '.azure', '.password-store', '.aws', '.kube']);

const ends: readonly string[] = ['.docker/config.json', '.config/gcloud', '.composer/auth.json'];

/** Whether files with this name usually hold secrets. Their content is never shown. Segments are separated by `/`. */
export function deniedPath(path: string): boolean {
  // Windows drops trailing dots and spaces.
  const parts = path
    .normalize('NFKC')
    .toLowerCase()
    .split('/')
    .map((part) => part.replace(/[. ]{1,255}$/, ''));
  const name = bare(parts.at(-1) ?? '');
  if (parts.some((part) => folders.has(part))) return true;
  const whole = `/${[...parts.slice(0, -1), name].join('/')}/`;
  if (ends.some((end) => whole.includes(`/${end}/`))) return true;
  return !sample.test(name) && names.some((pattern) => pattern.test(name));
}

function bare(name: string): string {
  let rest = name;
  while (copyMark.test(rest)) rest = rest.replace(copyMark, '');
  return rest;
}

/** A pattern whose match is a secret, but for the part that a group named `keep` holds. */
export interface TokenRule {
  name: string;
  pattern: RegExp;
}

/**
 * Tokens that tell by their form what they are. Every repetition is bounded, and none holds another that could match the
 * same text, so that no text makes them slow.
 */
const table: readonly (readonly [name: string, source: string, flags?: string])[] = [
  ['age-key', 'AGE-SECRET-KEY-1[0-9A-Z]{20,80}', 'i'],
  // Two parts or more after the header: signed tokens have two, encrypted ones four.
  [
    'jwt',
    'eyJ[A-Za-z0-9_-]{8,600}\\.[A-Za-z0-9_-]{0,4000}\\.[A-Za-z0-9_-]{8,1200}(?:\\.[A-Za-z0-9_-]{1,4000}){0,2}',
  ],
  ['github-token', 'gh[pousr]_[A-Za-z0-9]{20,255}'],
  ['github-token', 'github_pat_[A-Za-z0-9_]{20,255}'],
  ['gitlab-token', 'gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas)-[A-Za-z0-9_-]{16,255}'],
  ['npm-token', 'npm_[A-Za-z0-9]{30,64}'],
  ['npm-token', '(?<keep>_(?:auth|authToken|password)\\s{0,4}=\\s{0,4}["\']?)(?![$"\'])[^\\s"\']{8,500}'],
  ['slack-token', '(?:xoxe\\.)?xox[abcdeoprs]-[A-Za-z0-9-]{10,250}'],
  ['slack-token', 'xapp-[A-Za-z0-9-]{10,250}'],
  [
    'webhook-url',
    '(?<keep>https://hooks\\.slack\\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,200}',
    'i',
  ],
  [
    'webhook-url',
    '(?<keep>https://(?:ptb\\.|canary\\.)?discord(?:app)?\\.com/api/webhooks/)\\d{5,30}/[\\w-]{20,120}',
    'i',
  ],
  ['webhook-url', '(?<keep>https://[a-z0-9-]{1,60}\\.webhook\\.office\\.com/)[^\\s"\'<>]{10,400}', 'i'],
  ['stripe-key', '(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,255}'],
  ['webhook-secret', 'whsec_[A-Za-z0-9+/=]{16,128}'],
  ['google-key', 'AIza[A-Za-z0-9_-]{30,45}'],
  ['google-token', 'ya29\\.[A-Za-z0-9_-]{20,600}'],
  ['google-secret', 'GOCSPX-[A-Za-z0-9_-]{20,64}'],
  ['google-token', '(?<![A-Za-z0-9/])1//0[A-Za-z0-9_-]{30,256}'],
  [
    'aws-key',
    '(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?:[\\s,;:|"\']{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])|(?![A-Za-z0-9]))',
  ],
  [
    'azure-key',
    '(?<keep>(?:AccountKey|SharedAccessKey|AccessKey|SharedSecret)\\s{0,2}=\\s{0,2})[A-Za-z0-9+/%]{20,200}={0,2}',
    'i',
  ],
  ['azure-secret', '(?<![\\w~.-])[\\w~.-]{3}\\dQ~[\\w~.-]{31,40}'],
  [
    'signed-url',
    '(?<keep>[?&](?:sig|signature|x-amz-signature|x-goog-signature|x-amz-credential|x-amz-security-token)=)[^\\s"\'<>&#]{16,2000}',
    'i',
  ],
  ['twilio-key', '(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])'],
  ['sendgrid-key', '(?<![A-Za-z0-9])SG\\.[A-Za-z0-9_-]{16,40}\\.[A-Za-z0-9_-]{32,80}'],
  ['mailgun-key', '(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])'],
  ['mailchimp-key', '(?<![A-Za-z0-9])[0-9a-f]{32}-us\\d{1,2}(?!\\d)'],
  ['anthropic-key', 'sk-ant-[A-Za-z0-9_-]{20,255}'],
  ['api-key', '(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,80}\\d)[A-Za-z0-9_-]{20,255}'],
  ['groq-key', 'gsk_[A-Za-z0-9]{30,80}'],
  ['xai-key', '(?<![A-Za-z0-9])xai-[A-Za-z0-9]{40,100}'],
  ['perplexity-key', 'pplx-[A-Za-z0-9]{30,80}'],
  ['hugging-face-token', '(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}'],
  ['replicate-token', '(?<![A-Za-z0-9])r8_[A-Za-z0-9]{30,60}'],
  ['digitalocean-token', 'do[opr]_v1_[0-9a-f]{40,80}'],
  ['heroku-key', 'HRKU-[A-Za-z0-9_-]{30,80}'],
  ['shopify-token', 'shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,80}'],
  ['square-token', 'sq0[a-z]{3}-[A-Za-z0-9_-]{20,60}'],
  ['atlassian-token', 'AT[AC]TT3[A-Za-z0-9_=-]{40,300}'],
  ['pypi-token', 'pypi-[A-Za-z0-9_-]{40,300}'],
  ['rubygems-key', 'rubygems_[0-9a-f]{40,60}'],
  ['docker-token', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,80}'],
  ['databricks-token', '(?<![A-Za-z0-9])dapi[0-9a-f]{32}'],
  ['linear-key', 'lin_(?:api|oauth)_[A-Za-z0-9]{20,80}'],
  ['notion-token', '(?:ntn_[A-Za-z0-9]{30,60}|(?<![A-Za-z0-9])secret_[A-Za-z0-9]{36,60})'],
  ['figma-token', 'fig[dour]_[A-Za-z0-9_-]{30,80}'],
  ['telegram-token', '(?<![A-Za-z0-9])\\d{8,10}:AA[A-Za-z0-9_-]{30,40}'],
  ['doppler-token', '(?<![A-Za-z0-9])dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9_.-]{36,80}'],
  ['vault-token', '(?<![A-Za-z0-9])hv[sbr]\\.[A-Za-z0-9_-]{20,300}'],
  ['new-relic-key', 'NRAK-[A-Z0-9]{20,40}'],
  ['grafana-token', 'gl(?:c|sa)_[A-Za-z0-9+/_=]{20,300}'],
  ['planetscale-token', 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,100}'],
  ['supabase-key', '(?:sbp_[0-9a-f]{30,50}|sb_secret_[A-Za-z0-9_-]{20,60})'],
  ['terraform-token', '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{40,80}'],
  ['onepassword-token', 'ops_eyJ[A-Za-z0-9_-]{40,2000}'],
  ['onepassword-key', '(?<![A-Za-z0-9])A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,4}[A-Z0-9]{5,6}'],
  ['sentry-token', 'sntry[su]_[A-Za-z0-9+/=_-]{30,400}'],
  ['postman-key', 'PMAK-[0-9a-f]{24}-[0-9a-f]{30,40}'],
  ['airtable-token', '(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}'],
  ['fly-token', 'fm[12][ar]?_[A-Za-z0-9+/=_,-]{40,2000}'],
  ['vercel-token', '(?<![A-Za-z0-9])vc[piark]_[A-Za-z0-9]{20,60}'],
  ['cloudflare-token', '(?<![A-Za-z0-9])cf(?:k|ut|at)_[A-Za-z0-9]{40,60}'],
  ['netlify-token', 'nfp_[A-Za-z0-9]{30,60}'],
  // A name before it may be kept; a password is not.
  [
    'url-password',
    '(?<keep>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\\s:/@"\'<>`]{0,100}:)(?![$<{%*\\[]|(?:pass(?:word|wd)?|secret)@)[^\\s@"\'<>`]{4,300}(?=@)',
    'i',
  ],
  ['url-password', '(?<keep>://)[A-Za-z0-9_%.-]{20,300}(?=(?::x-oauth-basic)?@)'],
  [
    'command-password',
    '(?<keep>(?:^|\\s)(?:-u|--user|--basic)[ \\t=]{1,4}["\']?[^\\s:"\']{1,60}:)(?![$<{*[])[^\\s"\']{4,200}',
    'm',
  ],
  [
    'command-password',
    '(?<keep>\\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\\b[^\\n]{0,120}\\s-p ?["\']?)(?![$<{*[])[^\\s"\']{6,100}',
  ],
];

export const tokenRules: readonly TokenRule[] = table.map(([name, source, flags = '']) => ({
  name,
  pattern: new RegExp(source, `g${flags}`),
}));

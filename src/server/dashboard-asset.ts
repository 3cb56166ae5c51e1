/** A file of the dashboard. */
export interface Asset {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  /** Its name changes with its content. */
  isHashed: boolean;
}

/** For every answer to a browser: no script runs but the dashboard's own. */
export const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

export function assetResponse({ body, type, isHashed }: Asset): Response {
  const caching = isHashed ? 'private, max-age=31536000, immutable' : 'no-store';
  return new Response(body, { headers: { ...pageHeaders, 'Content-Type': type, 'Cache-Control': caching } });
}

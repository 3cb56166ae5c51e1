import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A small OpenID issuer with a device flow, on loopback. */
export interface TestIssuer {
  url: string;
  client: string;
  /** The codes that people were shown. */
  readonly codes: string[];
  /** The person opens the page and agrees, or not. */
  decide(code: string, claims: object | 'denied'): void;
  /** For the client of the device flow, unless the claims name another. */
  sign(claims: object, seconds?: number): Promise<string>;
  close(): void;
}

export async function startIssuer(audience: string): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  const client = 'stepfast-cli';
  const codes: string[] = [];
  const decisions = new Map<string, object | 'denied'>();
  const sign: TestIssuer['sign'] = async (claims, seconds = 300) =>
    await new SignJWT({ azp: client, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(url)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const answer = async (): Promise<[number, object]> => {
      if (request.url === '/.well-known/openid-configuration')
        return [
          200,
          {
            issuer: url,
            jwks_uri: `${url}/keys`,
            device_authorization_endpoint: `${url}/device`,
            token_endpoint: `${url}/token`,
          },
        ];
      if (request.url === '/keys') return [200, { keys: [jwk] }];
      if (request.url === '/device') {
        if (form.get('client_id') !== client) return [400, { error: 'invalid_client' }];
        const code = `CODE-${codes.length + 1}`;
        codes.push(code);
        return [
          200,
          {
            device_code: `device of ${code}`,
            user_code: code,
            verification_uri: `${url}/activate`,
            expires_in: 600,
            interval: 1,
          },
        ];
      }
      const decided = decisions.get(form.get('device_code')?.replace('device of ', '') ?? '');
      if (decided === undefined) return [400, { error: 'authorization_pending' }];
      if (decided === 'denied') return [400, { error: 'access_denied' }];
      return [200, { access_token: await sign(decided), token_type: 'bearer', expires_in: 300 }];
    };
    const [status, body] = await answer();
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    client,
    codes,
    decide: (code, claims) => void decisions.set(code, claims),
    sign,
    close: () => void server.close(),
  };
}

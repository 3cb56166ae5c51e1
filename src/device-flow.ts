import * as oauth from 'oauth4webapi';
import { StepfastError } from './errors.ts';

/** Where a person proves to an OpenID issuer who they are (RFC 8628). */
export interface DeviceFlow {
  issuer: string;
  client: string;
  scope: string;
  /** The server that the token is for. */
  resource: string;
}

export interface DeviceCode {
  /** The page that the person opens. */
  url: string;
  /** What the person types there, or compares. */
  code: string;
  /** What is redeemed once the person has agreed. */
  device: string;
  /** Between two attempts to redeem it, at least. */
  seconds: number;
}

const defaultSeconds = 5;
const slowerSeconds = 5;
/** Issuers end their codes before. */
const maxMs = 30 * 60_000;
const timeoutMs = 10_000;

/** Throws `sign_in_failed`. */
export async function requestDeviceCode(flow: DeviceFlow): Promise<DeviceCode> {
  const { server, client, options } = await discover(flow);
  const { scope, resource } = flow;
  const device = await asked(flow, async () =>
    oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope, resource }, options),
    ),
  );
  return {
    url: device.verification_uri_complete ?? device.verification_uri,
    code: device.user_code,
    device: device.device_code,
    seconds: device.interval ?? defaultSeconds,
  };
}

/** An access token, or what to do until there is one. Throws `sign_in_failed`. */
export async function redeemDeviceCode(
  flow: DeviceFlow,
  device: string,
): Promise<{ token: string } | 'pending' | 'slower'> {
  const { server, client, options } = await discover(flow);
  try {
    const { access_token } = await asked(
      flow,
      async () =>
        oauth.processDeviceCodeResponse(
          server,
          client,
          await oauth.deviceCodeGrantRequest(server, client, oauth.None(), device, options),
        ),
      ['authorization_pending', 'slow_down'],
    );
    return { token: access_token };
  } catch (error) {
    if (!(error instanceof oauth.ResponseBodyError)) throw error;
    return error.error === 'slow_down' ? 'slower' : 'pending';
  }
}

/** Resolves with an access token once the person has agreed. Throws `sign_in_failed`. */
export async function waitForToken(flow: DeviceFlow, { device, seconds }: DeviceCode): Promise<string> {
  const ends = Date.now() + maxMs;
  for (let pause = seconds; Date.now() < ends; ) {
    await new Promise((resolve) => setTimeout(resolve, pause * 1000));
    const answer = await redeemDeviceCode(flow, device);
    if (typeof answer === 'object') return answer.token;
    if (answer === 'slower') pause += slowerSeconds;
  }
  throw failed(flow, 'nobody has agreed in time');
}

async function discover(flow: DeviceFlow) {
  const url = new URL(flow.issuer);
  const options = {
    [oauth.allowInsecureRequests]: ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname),
    signal: () => AbortSignal.timeout(timeoutMs),
  };
  const server = await asked(flow, async () =>
    oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options)),
  );
  const client: oauth.Client = { client_id: flow.client };
  return { server, client, options };
}

/** Errors of the issuer in `passed` are thrown as they are. */
async function asked<T>(
  flow: DeviceFlow,
  call: () => Promise<T>,
  passed: readonly string[] = [],
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    if (code !== undefined && passed.includes(code)) throw error;
    const why = code ?? (error instanceof Error ? error.message : String(error));
    throw failed(flow, why, error);
  }
}

const failed = ({ issuer }: DeviceFlow, why: string, cause?: unknown): StepfastError =>
  new StepfastError('sign_in_failed', `${issuer} did not sign you in: ${why}`, { cause });

import { capabilitiesFor, instructions, serverInfo } from './identity.ts';

export interface OpeningAnswer {
  jsonrpc: '2.0';
  id: string | number;
  result: object;
}

const handshakeVersions: readonly unknown[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const discoverVersion = '2026-07-28';
const metaKey = 'io.modelcontextprotocol/';

/**
 * The SDK's answer to a client's first message, computed before the SDK is loaded, which is the slowest part of
 * start-up. undefined for anything but a plain first message, which the SDK then answers.
 */
export function openingAnswer(
  line: string,
  version: string,
  { toolsOnly = false } = {},
): OpeningAnswer | undefined {
  const { jsonrpc, id, method, params } = objectIn(parsed(line));
  if (jsonrpc !== '2.0' || (typeof id !== 'string' && !Number.isInteger(id))) return undefined;
  const result = resultFor(method, objectIn(params), version, capabilitiesFor({ toolsOnly }));
  // A string or an integer, checked above.
  return result && { jsonrpc: '2.0', id: id as string | number, result };
}

function resultFor(
  method: unknown,
  params: Record<string, unknown>,
  version: string,
  capabilities: object,
): object | undefined {
  if (method === 'initialize') {
    const { protocolVersion, clientInfo, capabilities: offered, _meta } = params;
    if (_meta !== undefined || !isClient(clientInfo, offered) || !handshakeVersions.includes(protocolVersion))
      return undefined;
    return { protocolVersion, capabilities, serverInfo: serverInfo(version), instructions };
  }
  if (method !== 'server/discover') return undefined;
  const meta = objectIn(params._meta);
  const isModern = meta[`${metaKey}protocolVersion`] === discoverVersion;
  if (!isModern || !isClient(meta[`${metaKey}clientInfo`], meta[`${metaKey}clientCapabilities`]))
    return undefined;
  return {
    supportedVersions: [discoverVersion],
    capabilities,
    instructions,
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [`${metaKey}serverInfo`]: serverInfo(version) },
  };
}

function isClient(info: unknown, offered: unknown): boolean {
  const { name, version } = objectIn(info);
  // Capabilities have shapes of their own, which only the SDK knows.
  const plain = typeof offered === 'object' && Object.values(objectIn(offered)).every(isPlain);
  return typeof name === 'string' && typeof version === 'string' && plain;
}

const isPlain = (value: unknown): boolean => typeof value === 'object' && value !== null;

function objectIn(value: unknown): Record<string, unknown> {
  // An object that is not an array.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

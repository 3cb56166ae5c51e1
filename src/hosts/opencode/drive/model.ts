import { isPayload, type Payload, partIn, textIn } from '../../payload.ts';
import type { Server } from './server.ts';

export interface ModelName {
  providerID: string;
  modelID: string;
}

/** `provider/model` as OpenCode has it, or a name that one of the person's providers knows. undefined: there is none. */
export async function findModel(server: Server, name: string): Promise<ModelName | undefined> {
  const { providers } = Object(await server.request('GET', '/config/providers'));
  const all: Payload[] = Array.isArray(providers) ? providers.filter(isPayload) : [];
  for (const provider of all) {
    const providerID = textIn(provider, 'id');
    if (providerID === undefined) continue;
    const modelID = name.startsWith(`${providerID}/`) ? name.slice(providerID.length + 1) : name;
    if (Object.hasOwn(partIn(provider, 'models') ?? {}, modelID)) return { providerID, modelID };
  }
  return undefined;
}

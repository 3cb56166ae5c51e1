/** Payloads may change with every version of the host, so every part is checked where it is read. */
export type Payload = Readonly<Record<string, unknown>>;

export const isPayload = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textIn = (payload: Payload | undefined, key: string): string | undefined => {
  const value = payload?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const numberIn = (payload: Payload | undefined, key: string): number | undefined => {
  const value = payload?.[key];
  return typeof value === 'number' ? value : undefined;
};

export const partIn = (payload: Payload | undefined, key: string): Payload | undefined => {
  const value = payload?.[key];
  return isPayload(value) ? value : undefined;
};

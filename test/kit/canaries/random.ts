export type Random = () => number;

export const lower = 'abcdefghijklmnopqrstuvwxyz';
export const digits = '0123456789';
export const base62 = lower + lower.toUpperCase() + digits;
export const base64 = `${base62}+/`;
export const hex = '0123456789abcdef';
export const shout = lower.toUpperCase() + digits;

export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] ?? fail();
export const fail = (): never => {
  throw new Error('an empty list');
};
export const some = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => pick(random, [...alphabet])).join('');

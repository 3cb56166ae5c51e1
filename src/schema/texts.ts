import * as z from 'zod';

/** The texts of a workflow file. */
export const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const id = z.string().regex(idPattern);
export const line = z.string().min(1).max(1000);
export const text = z.string().min(1).max(100_000);

export const title = z
  .string()
  .min(1)
  .max(100)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a title is printed on one line of a terminal
  .regex(/^[^\u0000-\u001f\u007f]+$/)
  .describe('What people read instead of the id; the id stays the address.');

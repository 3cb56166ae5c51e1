import * as z from 'zod';
import { word } from './parts.ts';

export const principalKinds = ['agent', 'runner', 'person', 'admin'] as const;

const subject = {
  kind: z.enum(principalKinds),
  /** The name of a token, or what an issuer calls its holder. Two tokens with one name are one subject. */
  subject: word,
  issuer: word.exactOptional(),
  /** The subject whose token this one was made with: both own the same sessions and tasks. */
  parent: word.exactOptional(),
};

/** Who proved to have sent a command. Without its token: a rotated token is the same principal. */
export const ownerSchema = z.strictObject(subject);
export const principalSchema = z.strictObject({ ...subject, token: word.exactOptional() });

export type Owner = z.infer<typeof ownerSchema>;
export type ProvenPrincipal = z.infer<typeof principalSchema>;
export type PrincipalKind = Owner['kind'];

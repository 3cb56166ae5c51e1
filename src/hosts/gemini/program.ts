import type { FoundHost, SetupContext } from '../../runtime/index.ts';
import { ask, findProgram, type Ran } from '../program.ts';

/** As a person types it. */
export const programName = 'gemini';

export const findGemini = async (
  context: Pick<SetupContext, 'env' | 'root'>,
): Promise<FoundHost | undefined> => await findProgram(programName, context);

/** Without the variable, installing an extension marks the person's folder as trusted. */
export const askGemini = async (
  { program }: FoundHost,
  args: readonly string[],
  { env, root }: Pick<SetupContext, 'env' | 'root'>,
): Promise<Ran> => await ask(program, args, { root, env: { ...env, GEMINI_CLI_TRUST_WORKSPACE: 'true' } });

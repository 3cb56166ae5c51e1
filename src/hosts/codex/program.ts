import type { FoundHost, SetupContext } from '../../runtime/index.ts';
import { findProgram } from '../program.ts';

/** As a person types it. */
export const programName = 'codex';

export const findCodex = async (
  context: Pick<SetupContext, 'env' | 'root'>,
): Promise<FoundHost | undefined> => await findProgram(programName, context);

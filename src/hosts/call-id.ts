/** For hosts that give a call no id: the last call in a session that a hook saw. */
export const callIdOfSession = (host: string, session: string): string => `${host} ${session}`;

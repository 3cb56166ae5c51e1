/** The kernel's process accounting (`accton`): one record for each process that ended. */

export interface Account {
  /** At most 15 characters. */
  command: string;
  /** User and system time. The kernel rounds each down to 10 ms. */
  cpuSeconds: number;
}

const recordBytes = 64;
const ticksPerSecond = 100;

/** Throws if the records are of another version. */
export function readAccounts(file: Buffer): Account[] {
  const accounts: Account[] = [];
  for (let at = 0; at + recordBytes <= file.length; at += recordBytes) {
    const record = file.subarray(at, at + recordBytes);
    // The upper bits are the byte order.
    const version = record.readUInt8(1) & 0x7f;
    if (version !== 3) throw new Error(`Unknown version of process accounting: ${version}`);
    const name = record.subarray(48, 64);
    accounts.push({
      command: name.toString('latin1', 0, Math.max(0, name.indexOf(0))),
      cpuSeconds: (ticks(record.readUInt16LE(32)) + ticks(record.readUInt16LE(34))) / ticksPerSecond,
    });
  }
  return accounts;
}

/** 13 bits, shifted by three times the upper 3 bits. */
const ticks = (compressed: number): number => (compressed & 0x1fff) << (3 * (compressed >> 13));

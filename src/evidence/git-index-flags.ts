export interface IndexFlags {
  /** The index has submodules or nested repositories. */
  gitlinks: boolean;
  /** The index has assume-unchanged or skip-worktree entries. */
  hidden: boolean;
}

const gitlinkMode = 0o160000;
const assumeUnchanged = 0x8000;
const extended = 0x4000;
const skipWorktree = 0x4000;
const nameMask = 0xfff;

/** Reads git's index (versions 2 to 4). Both flags are true if it cannot be read. */
export function indexFlags(index: Buffer, hashBytes: number): IndexFlags {
  try {
    return scan(index, hashBytes);
  } catch {
    return { gitlinks: true, hidden: true };
  }
}

function scan(index: Buffer, hashBytes: number): IndexFlags {
  const flags: IndexFlags = { gitlinks: false, hidden: false };
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4)
    throw new RangeError('unknown');
  let at = 12;
  for (let entry = 0; entry < count; entry++) {
    const start = at;
    const bits = index.readUInt16BE(start + 40 + hashBytes);
    let name = start + 42 + hashBytes;
    if (index.readUInt32BE(start + 24) === gitlinkMode) flags.gitlinks = true;
    if (bits & assumeUnchanged) flags.hidden = true;
    if (bits & extended) {
      if (index.readUInt16BE(name) & skipWorktree) flags.hidden = true;
      name += 2;
    }
    if (version === 4) {
      while (index.readUInt8(name) & 0x80) name++;
      at = end(index, name + 1) + 1;
    } else {
      const length = bits & nameMask;
      const last = length === nameMask ? end(index, name) : name + length;
      at = start + ((last - start + 8) & ~7);
    }
  }
  // A split index has more entries in another file.
  if (index.toString('latin1', at, at + 4) === 'link') return { gitlinks: true, hidden: true };
  return flags;
}

function end(index: Buffer, from: number): number {
  const at = index.indexOf(0, from);
  if (at === -1) throw new RangeError('cut off');
  return at;
}

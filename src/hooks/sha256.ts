/**
 * What the hook's bundle uses of `node:crypto`, which alone costs a fifth of Node's start. Names are hashed here; for
 * a run's state the real module is worth its price: code that runs for the first time needs twice as long for 8 KB.
 */
const worthTheRealOne = 1024;

type Input = string | Uint8Array;

const real = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto');

export function hash(algorithm: 'sha256', data: Input, encoding: 'hex'): string {
  const bytes = bytesOf(data);
  return bytes.length > worthTheRealOne
    ? real().hash(algorithm, bytes, encoding)
    : Buffer.from(sha256(bytes)).toString(encoding);
}

interface Hash {
  update(data: Input): Hash;
  digest(): Buffer;
  digest(encoding: 'hex'): string;
}

export function createHash(algorithm: 'sha256'): Hash {
  const parts: Uint8Array[] = [];
  function digest(): Buffer;
  function digest(encoding: 'hex'): string;
  function digest(encoding?: 'hex'): Buffer | string {
    const hex = hash(algorithm, Buffer.concat(parts), 'hex');
    return encoding ? hex : Buffer.from(hex, 'hex');
  }
  const made: Hash = {
    update(data) {
      parts.push(bytesOf(data));
      return made;
    },
    digest,
  };
  return made;
}

/** For names that are used once, never for secrets. */
export function randomBytes(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => Math.floor(Math.random() * 256)));
}

const bytesOf = (data: Input): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

/** The first 32 bits of the fractions of the square roots, and of the cube roots, of the first primes. */
const initial = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
const constants = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
);

function sha256(bytes: Uint8Array): Uint8Array {
  const blocks = ((bytes.length + 8) >> 6) + 1;
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = initial.slice();
  const words = new Int32Array(64);
  for (let block = 0; block < blocks; block += 1) {
    for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(block * 64 + index * 4);
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [index, word] of state.entries()) digest.setInt32(index * 4, word);
  return new Uint8Array(digest.buffer);
}

/** One block, as FIPS 180-4 has it. */
function compress(state: Int32Array, words: Int32Array): void {
  const at = (index: number): number => words[index] ?? 0;
  for (let index = 16; index < 64; index += 1) {
    const [old, recent] = [at(index - 15), at(index - 2)];
    const low = turn(old, 7) ^ turn(old, 18) ^ (old >>> 3);
    const high = turn(recent, 17) ^ turn(recent, 19) ^ (recent >>> 10);
    words[index] = (at(index - 16) + low + at(index - 7) + high) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const choice = (e & f) ^ (~e & g);
    const first =
      (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (constants[index] ?? 0) + at(index)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries())
    state[index] = ((state[index] ?? 0) + word) | 0;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

export const randomUUID = (): string => real().randomUUID();

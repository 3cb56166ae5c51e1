import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { sep } from 'node:path';

/** The magic numbers of Linux's statfs(2). */
const networkTypes = new Set([
  0x6969, // nfs
  0x517b, // smb
  0xff534d42, // cifs
  0xfe534d42, // smb2
  0x01021997, // 9p
  0x5346414f, // afs
  0x73757245, // coda
  0x564c, // ncp
  0x00c36400, // ceph
  0x0bd00bd0, // lustre
  0x47504653, // gpfs
]);
const fuseType = 0x65735546;
const networkFuse =
  /^fuse\.(?:sshfs|rclone|s3fs|gcsfuse|goofys|blobfuse2?|glusterfs|ceph|davfs|curlftpfs|mount-s3|juicefs)/;

/** Whether the path is on a network file system, where concurrent appends may be torn. Always false outside Linux. */
export function isNetworkFileSystem(
  path: string,
  { platform = process.platform, type = statfsType } = {},
): boolean {
  if (platform !== 'linux') return false;
  const found = type(path);
  if (found !== fuseType) return networkTypes.has(found);
  return networkFuse.test(mountType(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(path)) ?? '');
}

/** Some systems return a signed number. */
const statfsType = (path: string): number => statfsSync(path).type >>> 0;

/** The file system type of the deepest mount that contains the path. */
export function mountType(mountinfo: string, path: string): string | undefined {
  let best: { point: string; type: string | undefined } | undefined;
  for (const line of mountinfo.split('\n')) {
    const [mount = '', source = ''] = line.split(' - ');
    const point = mount
      .split(' ')[4]
      ?.replaceAll(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (point === undefined || point === '') continue;
    const holds = path === point || path.startsWith(point.endsWith(sep) ? point : point + sep);
    if (holds && point.length >= (best?.point.length ?? 0)) best = { point, type: source.split(' ')[0] };
  }
  return best?.type;
}

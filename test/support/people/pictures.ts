// Small pictures, byte by byte as their formats have them.
import { deflateSync, crc32 } from 'node:zlib';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** A PNG of one colour. */
export function pngOf(width: number, height: number, [red, green, blue] = [11, 87, 208]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3).fill(Buffer.from([red, green, blue]))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export const PNG = pngOf(64, 64);

/** The header of a JPEG of 40 by 20, as far as its size is read. */
export const JPEG = Buffer.from([
  ...[0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0],
  ...[0xff, 0xc0, 0x00, 0x11, 8, 0, 20, 0, 40, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xd9],
]);

/** A lossless WebP of 2 by 1, as far as its size is read. */
export const WEBP = Buffer.concat([
  Buffer.from('RIFF\u0018\0\0\0WEBPVP8L\u000c\0\0\0\u002f\u0001\0\0\0', 'latin1'),
  Buffer.alloc(8),
]);

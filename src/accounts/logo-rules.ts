/**
 * What a logo may be. Its kind and its size are read from its own bytes: a name or a content type is only
 * what somebody says. SVG is none of them, because it can hold scripts.
 */
import type { LogoType } from '../domain/brand.ts';

/** A page loads it on a phone abroad, and a row holds it. */
export const MAX_LOGO_BYTES = 128 * 1024;
/** Larger ones take memory of a phone to decode, and are shown small all the same. */
export const MAX_LOGO_PIXELS = 1_024;

interface Picture {
  readonly type: LogoType;
  readonly width: number;
  readonly height: number;
}

/** undefined: this is no PNG, JPEG or WebP picture, or it ends before its size is said. */
export function pictureOf(bytes: Buffer): Picture | undefined {
  return pngOf(bytes) ?? jpegOf(bytes) ?? webpOf(bytes);
}

export const isLogoSize = ({ width, height }: Picture): boolean =>
  [width, height].every((side) => side >= 1 && side <= MAX_LOGO_PIXELS);

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_HEADER_BYTES = 33;

function pngOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < PNG_HEADER_BYTES || !bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Markers that begin a frame; C4, C8 and CC between them are something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 4 || bytes.readUIntBE(0, 3) !== 0xffd8ff) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker))
      return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // Fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

const WEBP_HEADER_BYTES = 30;

function webpOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < WEBP_HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  const size = (width: number, height: number) => ({ type: 'image/webp', width, height }) as const;
  switch (bytes.toString('latin1', 8, 16)) {
    case 'WEBPVP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return size(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'WEBPVP8L': {
      if (bytes[20] !== 0x2f) return undefined;
      const sides = bytes.readUInt32LE(21);
      return size((sides & 0x3fff) + 1, ((sides >>> 14) & 0x3fff) + 1);
    }
    case 'WEBPVP8X':
      return size(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

/** An activation code in the forms that install it. Secret: never logged. */
import { create } from 'qrcode';

/** iOS 17.4 and later open this themselves; older ones show a page of Apple's. */
export function iosInstallLink(ac: string): string {
  return `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${encodeURIComponent(ac)}`;
}

/** Android opens this itself with Google Play services of April 2025 or later. */
export function androidInstallLink(ac: string): string {
  return `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${encodeURIComponent(ac)}`;
}

/** Modules of white around the code, as ISO/IEC 18004 asks for. */
const QUIET_MODULES = 4;
/** Pixels of a side where nothing else gives a size. */
const SIDE = 280;

/**
 * A QR code as an SVG element, black on white, in one path. `label`: what a screen reader says, already safe
 * for an attribute.
 */
export function qrSvg(text: string, label: string): string {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const runs: string[] = [];
  for (let y = 0; y < modules.size; y += 1) {
    for (let x = 0; x < modules.size; x += 1) {
      if (modules.get(y, x) === 0) continue;
      const from = x;
      while (x + 1 < modules.size && modules.get(y, x + 1) !== 0) x += 1;
      const length = x + 1 - from;
      runs.push(`M${from + QUIET_MODULES} ${y + QUIET_MODULES}h${length}v1h-${length}z`);
    }
  }
  const side = modules.size + 2 * QUIET_MODULES;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${label}" width="${SIDE}" height="${SIDE}" ` +
    `viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/>` +
    `<path fill="#000" d="${runs.join('')}"/></svg>`
  );
}

/** The same as an address for an image element. */
export function qrDataUrl(text: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(qrSvg(text, 'QR code')).toString('base64')}`;
}

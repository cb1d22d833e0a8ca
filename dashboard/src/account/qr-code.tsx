import { create } from 'qrcode';

/** Modules of white around the code, as the standard asks. */
const QUIET = 4;

/** Black on white in dark mode too, for cameras. Drawn in the browser: the secret goes nowhere else. */
export default function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, data } = create(text).modules;
  const path = Array.from(data, (isDark, index) =>
    isDark ? `M${String(index % size)} ${String(Math.trunc(index / size))}h1v1h-1z` : '',
  ).join('');
  const edge = size + 2 * QUIET;
  return (
    <svg
      role="img"
      aria-label={label}
      width="100%"
      height="100%"
      viewBox={`${String(-QUIET)} ${String(-QUIET)} ${String(edge)} ${String(edge)}`}
      shapeRendering="crispEdges"
    >
      <rect x={-QUIET} y={-QUIET} width={edge} height={edge} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

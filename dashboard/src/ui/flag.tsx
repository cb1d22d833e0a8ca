/** Flags are files of ours (vite.config.ts), each read when it comes into view. */
import { IconMap2, IconWorld } from '@tabler/icons-react';

declare const FLAGS: string;
/** Of two letters each, one behind the other. */
declare const FLAG_CODES: string;

const known = new Set(FLAG_CODES.match(/../g));

/** Beside the name that it belongs to. What is no country has a picture of a map or of the world. */
export function Flag({
  code,
  isGlobal = false,
}: {
  /** ISO 3166-1 alpha-2. */
  readonly code: string | null;
  readonly isGlobal?: boolean;
}) {
  if (code !== null && known.has(code))
    return (
      <img
        className="flag"
        src={`${FLAGS}/${code}.svg`}
        alt=""
        width={36}
        height={24}
        loading="lazy"
        decoding="async"
      />
    );
  const Picture = isGlobal ? IconWorld : IconMap2;
  return (
    <span className="flag">
      <Picture size={24} aria-hidden />
    </span>
  );
}

/**
 * What installs an eSIM: activation code, matching id, QR and short address, PIN, PUK. Who has it can take
 * the eSIM, so Postgres gets it sealed (decision 0052), as one secret about the eSIM, and only what is shown
 * is opened. Never logged.
 */
import { DomainError } from '../domain/errors.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { parseLpa, type ProfileFacts } from './rules.ts';
import type { InstallRow } from './store/install-data.ts';

type InstallFacts = Pick<ProfileFacts, 'ac' | 'qrCodeUrl' | 'shortUrl' | 'pin' | 'puk'>;

/** As the owner of the eSIM sees it. */
export interface OpenInstallData {
  readonly ac: string;
  readonly qr_code_url: string;
  readonly short_url: string;
  readonly smdp_address: string;
  readonly matching_id: string;
  readonly pin: string | null;
  readonly puk: string | null;
}

/** Of an eSIM that has none, or whose install data is not shown. */
export const NO_INSTALL_DATA: OpenInstallData = {
  ac: '',
  qr_code_url: '',
  short_url: '',
  smdp_address: '',
  matching_id: '',
  pin: null,
  puk: null,
};

export type InstallData = ReturnType<typeof createInstallData>;

export function createInstallData({
  secretBox,
  onUnreadable,
}: {
  readonly secretBox: SecretBox;
  /** Called before an error of `open`. `detail` names the missing key, and no secret. */
  readonly onUnreadable: (fields: { readonly esimId: string; readonly detail: string }) => void;
}) {
  const open = (row: InstallRow): OpenInstallData => {
    if (row.install_sealed === null) return NO_INSTALL_DATA;
    try {
      return opened(JSON.parse(secretBox.open(row.install_sealed, row.id)) as InstallFacts);
    } catch (cause) {
      onUnreadable({ esimId: row.id, detail: cause instanceof Error ? cause.message : String(cause) });
      const unreadable = new DomainError(
        'SERVICE_UNAVAILABLE',
        'The activation data of this eSIM cannot be read right now; it is not lost',
      );
      unreadable.cause = cause;
      throw unreadable;
    }
  };

  const seal = (esimId: string, facts: InstallFacts): Buffer => {
    const { ac, qrCodeUrl, shortUrl, pin, puk } = facts;
    return secretBox.seal(JSON.stringify({ ac, qrCodeUrl, shortUrl, pin, puk }), esimId);
  };

  /** What to write into the row of an eSIM. */
  const columns = (esimId: string, facts: InstallFacts) => ({ install_sealed: seal(esimId, facts) });

  return {
    /** Throws SERVICE_UNAVAILABLE while the key is missing. */
    open,
    columns,
    /** What to write where the supplier says something else than the row, or the row cannot be read. */
    changes: (row: InstallRow, facts: InstallFacts): Partial<ReturnType<typeof columns>> => {
      try {
        const known = open(row);
        const said = opened(facts);
        const isKnown = FIELDS.every((field) => known[field] === said[field]);
        return isKnown ? {} : columns(row.id, facts);
      } catch {
        return columns(row.id, facts);
      }
    },
    /** The row's install data under today's key. Throws as `open`. */
    resealed: (row: InstallRow): Buffer => {
      const { ac, qr_code_url: qrCodeUrl, short_url: shortUrl, pin, puk } = open(row);
      return seal(row.id, { ac, qrCodeUrl, shortUrl, pin, puk });
    },
  };
}

const FIELDS = Object.keys(NO_INSTALL_DATA) as (keyof OpenInstallData)[];

function opened({ ac, qrCodeUrl, shortUrl, pin, puk }: InstallFacts): OpenInstallData {
  const { smdpAddress, matchingId } = parseLpa(ac);
  return {
    ac,
    qr_code_url: qrCodeUrl,
    short_url: shortUrl,
    smdp_address: smdpAddress,
    matching_id: matchingId,
    pin,
    puk,
  };
}

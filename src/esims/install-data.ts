/**
 * What installs an eSIM: activation code, matching id, QR and short address, PIN, PUK. Who has it can take the eSIM, so Postgres gets it sealed
 * (decision 0052), as one secret about the eSIM, and only what is shown is opened. Never logged.
 */
import { DomainError } from '../domain/errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { parseLpa, type ProfileFacts } from './rules.ts';
import { readClearUntil, type InstallColumns, type InstallRow } from './store/install-data.ts';

type InstallFacts = Pick<ProfileFacts, 'ac' | 'qrCodeUrl' | 'shortUrl' | 'pin' | 'puk'>;

/** The columns of an eSIM without install data, and of one whose install data is sealed. */
export const NO_INSTALL_DATA: InstallColumns = {
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
  clock,
  onUnreadable,
}: {
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  /** Called before an error of `open`. `detail` names the missing key, and no secret. */
  readonly onUnreadable: (fields: { readonly esimId: string; readonly detail: string }) => void;
}) {
  let clearUntilMs = 0;

  const open = (row: InstallRow): InstallColumns => {
    // What an earlier release wrote is as new as the seal beside it, or newer.
    if (hasInstallData(row)) return columnsOf(row);
    if (row.install_sealed === null) return NO_INSTALL_DATA;
    try {
      return inClear(JSON.parse(secretBox.open(row.install_sealed, row.id)) as InstallFacts);
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
  const columns = (esimId: string, facts: InstallFacts) => ({
    ...(clock.now().getTime() < clearUntilMs ? inClear(facts) : NO_INSTALL_DATA),
    install_sealed: seal(esimId, facts),
  });

  return {
    /** Reads until when processes of a release that cannot open seals may run beside this one. Before the first write. */
    start: async (db: WorldDb): Promise<void> => {
      clearUntilMs = (await readClearUntil(db))?.getTime() ?? 0;
    },
    /** Throws SERVICE_UNAVAILABLE while the key is missing. */
    open,
    columns,
    /** What to write where the supplier says something else than the row, or the row cannot be read. */
    changes: (row: InstallRow, facts: InstallFacts): Partial<ReturnType<typeof columns>> => {
      try {
        const known = open(row);
        const said = inClear(facts);
        const isKnown = INSTALL_COLUMNS.every((column) => known[column] === said[column]);
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

const INSTALL_COLUMNS = Object.keys(NO_INSTALL_DATA) as (keyof InstallColumns)[];

function hasInstallData(row: InstallColumns): boolean {
  return INSTALL_COLUMNS.some((column) => row[column] !== NO_INSTALL_DATA[column]);
}

function columnsOf(row: InstallColumns): InstallColumns {
  const { ac, qr_code_url, short_url, smdp_address, matching_id, pin, puk } = row;
  return { ac, qr_code_url, short_url, smdp_address, matching_id, pin, puk };
}

function inClear({ ac, qrCodeUrl, shortUrl, pin, puk }: InstallFacts): InstallColumns {
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

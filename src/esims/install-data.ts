/**
 * What installs an eSIM: activation code, matching id, QR and short address, PIN, PUK. Who has it can take
 * the eSIM, so Postgres gets it sealed (decision 0052), as one secret about the eSIM, and only what is shown
 * is opened. Never logged.
 */
import type { InstallReader } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { parseLpa, type ProfileFacts } from './rules.ts';
import type { InstallRow } from './store/install-data.ts';
import type { EsimRow } from './store/esims.ts';

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
    /** Empty for a caller who may not read it. Throws SERVICE_UNAVAILABLE while the key is missing. */
    open: (row: InstallRow, reader: InstallReader): OpenInstallData => {
      if (!reader.mayInstall) return NO_INSTALL_DATA;
      const data = open(row);
      if (data !== NO_INSTALL_DATA) reader.installsRead?.add(row.id);
      return data;
    },
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

/** An eSIM order as its owner may see it: with install data, where that is shown. */
export type EsimView = Omit<EsimRow, 'install_sealed'> &
  OpenInstallData & { readonly install_sealed?: undefined };

/**
 * Install data stays hidden until the purchase has settled, from callers who may not read it, and once
 * another eSIM is in its place. Throws SERVICE_UNAVAILABLE if it cannot be read.
 */
export function visibleEsim(
  installData: Pick<InstallData, 'open'>,
  row: EsimRow,
  reader: InstallReader,
): EsimView {
  const isSettled = row.status !== 'PENDING' && row.status !== 'FAILED';
  if (row.replaced_by !== null) return withoutInstallData(row);
  return isSettled
    ? { ...row, ...installData.open(row, reader), install_sealed: undefined }
    : { ...withoutInstallData(row), iccid: '' };
}

export function withoutInstallData(row: EsimRow): EsimView {
  return { ...row, ...NO_INSTALL_DATA, install_sealed: undefined };
}

/** When the usage of this row was true at the supplier; null while nothing is known of it. */
export function usageAsOf(row: Pick<EsimRow, 'usage_as_of' | 'checked_at'>): Date | null {
  return row.usage_as_of ?? row.checked_at;
}

const MS_PER_UNIT: Record<string, number> = { HOUR: 3_600_000, DAY: 86_400_000, MONTH: 30 * 86_400_000 };

/**
 * Units left: all of them before activation, then down to the end, none once it is over. Started units count
 * whole.
 */
export function remainingUnits(row: EsimView): number {
  if (row.status === 'EXPIRED' || row.status === 'CANCELLED' || row.status === 'FAILED') return 0;
  if (row.activate_time === null || row.expired_time === null) return row.total_duration;
  const unitMs = MS_PER_UNIT[row.duration_unit] ?? 86_400_000;
  const leftMs = row.expired_time.getTime() - (row.checked_at ?? row.updated_at).getTime();
  return Math.min(row.total_duration, Math.max(0, Math.trunc((leftMs + unitMs - 1) / unitMs)));
}

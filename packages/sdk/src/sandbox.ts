import type { Esim, SandboxInstallRequest } from './generated/types.gen.ts';
import type { Simway } from './simway.ts';

/** Package codes of the sandbox that choose what happens to a purchase: docs/SANDBOX.md describes each. */
export const MAGIC_PACKAGES = [
  'SIM-OK',
  'SIM-OUT-OF-STOCK',
  'SIM-SOLD-OUT',
  'SIM-PRICE-CHANGED',
  'SIM-LOW-BALANCE',
  'SIM-UNKNOWN-PACKAGE',
  'SIM-WRONG-SIGNATURE',
  'SIM-BUSY',
  'SIM-SERVER-ERROR',
  'SIM-SLOW',
  'SIM-LOSE-ANSWER',
  'SIM-NEVER-ALLOCATE',
  'SIM-MANUAL-LIFE',
  'SIM-NO-TOPUP',
  'SIM-RETURN-LOSE-ANSWER',
  'SIM-RETURN-SILENT',
  'SIM-TOO-DEAR',
  'SIM-PAY-NOW',
  'SIM-PAY-DECLINE',
  'SIM-PAY-INSUFFICIENT-FUNDS',
  'SIM-PAY-SHORT',
  'SIM-PAY-OVER',
  'SIM-PAY-FEES-ON-TOP',
  'SIM-PAY-OTHER-CURRENCY',
  'SIM-PAY-RETURNED',
  'SIM-PAY-LATE',
  'SIM-PAY-TWICE',
  'SIM-PAY-SILENT',
  'SIM-PAY-REVERSED',
  'SIM-PAY-DISPUTED',
  'SIM-PAY-REFUNDED',
  'SIM-PAY-REFUND-FAILS',
  'SIM-PAY-REFUND-NEEDS-ATTENTION',
  'SIM-PAY-NEVER',
] as const;
export type MagicPackage = (typeof MAGIC_PACKAGES)[number];

/** The top-up of a magic package. `SIM-NO-TOPUP` has none. */
export const topUpOf = <Code extends Exclude<MagicPackage, 'SIM-NO-TOPUP'>>(code: Code): `TOPUP_${Code}` =>
  `TOPUP_${code}`;

/**
 * What a test key may have happen to an eSIM of the sandbox. Each resolves to the eSIM as it then stands, and
 * throws `SANDBOX_ACTION_REFUSED` if its state does not allow it.
 */
export function sandboxEsim(simway: Simway, esimId: string) {
  const path = { esimId };
  return {
    /** Up to a stage: `DOWNLOAD`, `INSTALLATION`, `ENABLED` or, by default, `CONNECTED`. */
    install: (stage?: SandboxInstallRequest['stage']): Promise<Esim> =>
      simway.sandboxInstallEsim({ path, body: stage === undefined ? {} : { stage } }),
    use: (bytes: number): Promise<Esim> => simway.sandboxUseEsim({ path, body: { bytes } }),
    useUp: (): Promise<Esim> => simway.sandboxUseUpEsim({ path }),
    expire: (): Promise<Esim> => simway.sandboxExpireEsim({ path }),
    suspend: (): Promise<Esim> => simway.sandboxSuspendEsim({ path }),
    resume: (): Promise<Esim> => simway.sandboxResumeEsim({ path }),
    switchOff: (): Promise<Esim> => simway.sandboxSwitchOffEsim({ path }),
    switchOn: (): Promise<Esim> => simway.sandboxSwitchOnEsim({ path }),
    deleteProfile: (): Promise<Esim> => simway.sandboxDeleteEsimProfile({ path }),
    /** The test clock: makes the eSIM older, by 1 second to 400 days, and does what is due in that time. */
    advanceClock: ({
      days = 0,
      hours = 0,
      seconds = 0,
    }: {
      days?: number;
      hours?: number;
      seconds?: number;
    }): Promise<Esim> =>
      simway.sandboxAdvanceEsimClock({
        path,
        body: { advanceSeconds: days * 86_400 + hours * 3_600 + seconds },
      }),
  };
}

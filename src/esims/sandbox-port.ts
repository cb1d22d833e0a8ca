import type { Outcome } from '../domain/outcome.ts';

/** How far an installation gets. CONNECTED: to a network, which starts the validity of most packages. */
export const INSTALL_STAGES = ['DOWNLOAD', 'INSTALLATION', 'ENABLED', 'CONNECTED'] as const;
export type InstallStage = (typeof INSTALL_STAGES)[number];

/** What needs nothing but a name. */
export const PLAIN_SANDBOX_ACTIONS = [
  'use-up',
  'expire',
  'suspend',
  'resume',
  'switch-off',
  'switch-on',
  'delete-profile',
] as const;
type PlainSandboxAction = (typeof PLAIN_SANDBOX_ACTIONS)[number];

/** What a traveller, the network or time does to one eSIM. */
export type SandboxAction =
  | { readonly name: 'install'; readonly stage: InstallStage }
  | { readonly name: 'use'; readonly bytes: number }
  | { readonly name: 'clock'; readonly advanceMs: number }
  | { readonly name: PlainSandboxAction };

export interface SandboxRequest {
  readonly esimTranNo: string;
  readonly action: SandboxAction;
  /** Carried out once under this id, however often it is sent. */
  readonly requestId?: string | undefined;
}

/** The life of eSIMs at the simulator of the supplier. There is none at a real supplier. */
export interface SandboxSupplier {
  /**
   * Refused: the eSIM's state does not allow it, or the simulator does not know the eSIM. `detail` says why.
   * Never throws.
   */
  act(request: SandboxRequest): Promise<Outcome<null, 'NOT_ALLOWED_IN_STATE'>>;
}

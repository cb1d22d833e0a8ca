/** What the detail of an entry may hold, as people read it in the log. */
export const AUDIT_FACTS = {
  accountId: 'account',
  address: 'from',
  after: 'after',
  amountMinor: 'minor units',
  approvedBy: 'approved by',
  before: 'before',
  change: 'asked for',
  currency: 'currency',
  device: 'device',
  disabled: 'disabled',
  email: 'e-mail',
  endedEndpoints: 'endpoints ended',
  environment: 'environment',
  evidence: 'evidence',
  formerRole: 'role before',
  from: 'approved from',
  givenBy: 'given by',
  id: 'settings',
  invitedBy: 'invited by',
  lockedOut: 'locked out',
  machine: 'machine',
  merchantMarkupBps: 'markup for merchants',
  name: 'name',
  newDevice: 'new device',
  ngnIncrementBps: 'increment in NGN',
  outcome: 'result',
  plan: 'plan',
  proposedBy: 'proposed by',
  proposedReason: 'reason of the proposal',
  rateId: 'rate',
  reason: 'reason',
  reference: 'reference',
  requestId: 'request',
  requestsPerMinute: 'requests a minute',
  revoked: 'keys revoked',
  revokedKeys: 'keys revoked',
  role: 'role',
  scopes: 'scopes',
  secondFactor: 'with the second factor',
  signUp: 'at sign-up',
  source: 'source',
  type: 'type',
  unit: 'unit',
  userMarkupBps: 'markup for consumers',
  wanted: 'wanted to',
  websiteUrl: 'website',
  which: 'sessions',
} as const;

export type AuditFacts = { readonly [Name in keyof typeof AUDIT_FACTS]?: unknown };

/** What the audit log records. A fact without words in AUDIT_FACTS does not compile. */
export interface AuditEntry<Facts extends AuditFacts = AuditFacts> {
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail?: Facts & { readonly [Name in Exclude<keyof Facts, keyof AuditFacts>]: never };
}

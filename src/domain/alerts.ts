/** Alerts for operators: their kinds, each with its severity, and where they are sent. */

/** From the least to the most. */
export const SEVERITIES = ['warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** docs/ALERTS.md has a section for each, with its name. */
const ALERT_TABLE = {
  'supplier-balance-low': { severity: 'warning', title: 'The balance at the supplier is low' },
  'supplier-balance-critical': { severity: 'critical', title: 'The balance at the supplier runs out' },
  'supplier-balance-unread': { severity: 'warning', title: 'The balance at the supplier cannot be read' },
  'packages-unavailable': { severity: 'warning', title: 'The supplier refuses packages' },
  'purchases-refused': { severity: 'critical', title: 'Purchases fail at the supplier' },
  'purchases-need-attention': { severity: 'warning', title: 'Purchases have needed a person for an hour' },
  'refunds-need-attention': { severity: 'critical', title: 'Refunds do not go through' },
  'differences-open': { severity: 'warning', title: 'Our books differ from a vendor’s' },
  'rates-quarantined': { severity: 'warning', title: 'Exchange rates await a person' },
  'rates-old': { severity: 'critical', title: 'Exchange rates are old' },
  'payment-monitor-late': { severity: 'warning', title: 'The gateway’s payments are not read' },
} as const satisfies Record<string, { readonly severity: Severity; readonly title: string }>;

export type AlertKind = keyof typeof ALERT_TABLE;
export const ALERT_KINDS = Object.keys(ALERT_TABLE) as AlertKind[];

export const severityOf = (kind: AlertKind): Severity => ALERT_TABLE[kind].severity;
export const titleOf = (kind: AlertKind): string => ALERT_TABLE[kind].title;

export const CHANNEL_KINDS = ['MAIL', 'WEBHOOK'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const ALERT_MESSAGES = ['opened', 'reminder', 'resolved', 'test'] as const;
export type AlertMessage = (typeof ALERT_MESSAGES)[number];

/**
 * Who may do what under /ops; docs/OPERATIONS.md prints these tables. FINANCE moves money, OPERATIONS handles
 * deliveries. ADMIN manages people, and therefore moves no money: a person has one role, and the person who
 * hands out access must not be able to use it. Whether an action is available, and whether it needs a second
 * person, does not depend on the role.
 */
export const ROLES = ['SUPPORT', 'OPERATIONS', 'FINANCE', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** What routes require; `words` are for refusals and the documentation. */
const PERMISSION_TABLE = {
  see: { roles: ROLES, words: 'view stuck items, purchases, lists and operator actions; write notes' },
  // Stryker disable next-line StringLiteral: every role may, so no refusal contains it
  action: { roles: ROLES, words: 'take an operator action' },
  replay: {
    roles: ['OPERATIONS', 'FINANCE'],
    words: 'replay a purchase, stop a batch repair, sell a package again',
  },
  approve: { roles: ['FINANCE'], words: 'approve or decline operator actions and batch repairs' },
  reconcile: { roles: ['FINANCE'], words: 'see and close differences, and run reconciliation' },
  pricing: { roles: ['FINANCE'], words: 'see and set rates and prices' },
  books: { roles: ['FINANCE', 'ADMIN'], words: 'read the books' },
  closing: {
    roles: ['FINANCE'],
    words: 'close months, correct invoices, set the company’s details and taxes',
  },
  wallets: { roles: ['FINANCE'], words: 'fund, credit and correct wallets by hand' },
  alerts: { roles: ['ADMIN'], words: 'set where alerts are sent' },
  people: { roles: ['ADMIN'], words: 'manage people' },
  accounts: { roles: ['FINANCE', 'ADMIN'], words: 'change accounts' },
  audit: { roles: ['FINANCE', 'ADMIN'], words: 'read the audit log' },
} as const satisfies Record<string, { readonly roles: readonly Role[]; readonly words: string }>;

export type Permission = keyof typeof PERMISSION_TABLE;
export const PERMISSIONS = Object.keys(PERMISSION_TABLE) as Permission[];

export const describePermission = (permission: Permission): string => PERMISSION_TABLE[permission].words;
export const rolesWith = (permission: Permission): readonly Role[] => PERMISSION_TABLE[permission].roles;

/** They put money, prices or people in one's hand: a stolen password alone must not be enough. */
const WITH_SECOND_FACTOR: readonly Permission[] = [
  'replay',
  'approve',
  'pricing',
  'closing',
  'wallets',
  'people',
  'accounts',
];

/** Whether the role takes a second factor. */
export const takesSecondFactor = (role: Role): boolean =>
  WITH_SECOND_FACTOR.some((permission) => may(role, permission));

export const may = (role: Role, permission: Permission): boolean => rolesWith(permission).includes(role);

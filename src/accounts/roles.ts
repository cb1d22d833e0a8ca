/**
 * Who may do what under /ops; docs/OPERATIONS.md prints these tables. FINANCE moves money, OPERATIONS handles deliveries, ADMIN manages people.
 * Whether an action is available, and whether it needs a second person, does not depend on the role.
 */
export const ROLES = ['SUPPORT', 'OPERATIONS', 'FINANCE', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** What routes require. */
export const PERMISSIONS = ['see', 'move', 'replay', 'approve', 'reconcile', 'books', 'people'] as const;
export type Permission = (typeof PERMISSIONS)[number];

const ROLES_WITH: Record<Permission, readonly Role[]> = {
  see: ROLES,
  move: ROLES,
  replay: ['OPERATIONS', 'FINANCE', 'ADMIN'],
  approve: ['FINANCE', 'ADMIN'],
  reconcile: ['FINANCE', 'ADMIN'],
  books: ['FINANCE', 'ADMIN'],
  people: ['ADMIN'],
};

/** For refusals and the documentation. */
export const PERMISSION_WORDS: Record<Permission, string> = {
  see: 'see what is stuck, purchases and their moves',
  // Stryker disable next-line StringLiteral: every role may, so no refusal contains it
  move: 'ask for a move',
  replay: 'replay a purchase',
  approve: 'approve or decline moves',
  reconcile: 'see, look for and close differences',
  books: 'read the books',
  people: 'manage people',
};

const ROLES_THAT_MOVE: Record<OperatorAction, readonly Role[]> = {
  'look-at-gateway': ROLES,
  'look-at-supplier': ROLES,
  'retry-delivery': ['OPERATIONS', 'FINANCE', 'ADMIN'],
  'deliver-other': ['OPERATIONS', 'ADMIN'],
  'mark-paid': ['FINANCE', 'ADMIN'],
  'refund-to-source': ['FINANCE', 'ADMIN'],
  'credit-wallet': ['FINANCE', 'ADMIN'],
  cancel: ['OPERATIONS', 'FINANCE', 'ADMIN'],
  'settle-claim': ['FINANCE', 'ADMIN'],
};

export const rolesWith = (permission: Permission): readonly Role[] => ROLES_WITH[permission];
export const rolesThatMove = (move: OperatorAction): readonly Role[] => ROLES_THAT_MOVE[move];

export function may(role: Role, permission: Permission): boolean {
  return ROLES_WITH[permission].includes(role);
}

export function mayMove(role: Role, move: OperatorAction): boolean {
  return ROLES_THAT_MOVE[move].includes(role);
}

export const OPERATOR_ACTIONS = [
  'look-at-gateway',
  'look-at-supplier',
  'retry-delivery',
  'deliver-other',
  'mark-paid',
  'refund-to-source',
  'credit-wallet',
  'cancel',
  'settle-claim',
] as const;

export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

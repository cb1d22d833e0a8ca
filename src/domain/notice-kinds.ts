/** What users are told by mail about their own access (src/accounts/notices.ts). */
export const NOTICE_KINDS = [
  'password-changed',
  'password-reset',
  'password-given',
  'factor-added',
  'factor-removed',
  'key-made',
  'endpoint-made',
  'endpoint-moved',
  'endpoint-secret-changed',
  'return-hosts-changed',
  'owner-added',
  'owner-removed',
  'role-changed',
  'disabled',
  'account-disabled',
  'removal-asked',
  'new-device',
] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];

import { Status } from '../ui/parts.tsx';

const ESIM_COLORS = {
  PENDING: 'yellow',
  CREATED: 'blue',
  ACTIVE: 'green',
  EXPIRED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
  SUSPENDED: 'orange',
} as const;

export const EsimStatus = ({ children }: { readonly children: keyof typeof ESIM_COLORS }) => (
  <Status color={ESIM_COLORS[children]}>{children}</Status>
);

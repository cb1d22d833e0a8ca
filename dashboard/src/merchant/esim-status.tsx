import { Badge } from '@mantine/core';

const ESIM_COLORS = {
  PENDING: 'yellow',
  CREATED: 'blue',
  ACTIVE: 'green',
  EXPIRED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
  SUSPENDED: 'orange',
} as const;

export function EsimStatus({ children }: { readonly children: keyof typeof ESIM_COLORS }) {
  return (
    <Badge variant="light" color={ESIM_COLORS[children]} className="status">
      {children}
    </Badge>
  );
}
